/** Routes, WebSocket and SSE sessions, errors to problem+json. */
@NullMarked
@CheckReturnValue
package dev.tidemark.http;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
