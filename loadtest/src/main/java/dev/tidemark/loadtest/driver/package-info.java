/**
 * A load driver that costs little beside the servers it loads: one thread and one selector for all connections, requests that are
 * made once and sent as often as wanted, answers counted in the bytes that come and not otherwise looked at.
 */
@NullMarked
@CheckReturnValue
package dev.tidemark.loadtest.driver;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
