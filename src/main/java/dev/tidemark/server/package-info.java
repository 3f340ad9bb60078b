/** Composition root: configuration, deployment and shutdown order, health, metrics. */
@NullMarked
@CheckReturnValue
package dev.tidemark.server;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
