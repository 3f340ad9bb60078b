/**
 * A client for Tidemark that needs nothing but the JDK: append exactly once, tail, read a range, follow a stream across restarts.
 * {@link dev.tidemark.client.TidemarkClient} is where to begin.
 */
@NullMarked
package dev.tidemark.client;

import org.jspecify.annotations.NullMarked;
