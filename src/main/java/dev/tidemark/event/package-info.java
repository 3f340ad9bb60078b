/** The vocabulary: ids, names, events, chunks, cursors, limits. Pure: no I/O, no threads. */
@NullMarked
@CheckReturnValue
package dev.tidemark.event;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
