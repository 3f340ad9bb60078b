/** The systems that are measured, each started alone, on loopback, a free port and a temporary directory, and removed at the end. */
@NullMarked
@CheckReturnValue
package dev.tidemark.loadtest.system;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
