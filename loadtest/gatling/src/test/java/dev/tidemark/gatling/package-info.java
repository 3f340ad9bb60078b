/** Load from outside, over HTTP and WebSocket, with reports in HTML. */
@NullMarked
package dev.tidemark.gatling;

import org.jspecify.annotations.NullMarked;
