/** Measures a running Tidemark beside the Redis under it, over HTTP, WebSocket and RESP. Uses no class of the server. */
@NullMarked
@CheckReturnValue
package dev.tidemark.loadtest;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
