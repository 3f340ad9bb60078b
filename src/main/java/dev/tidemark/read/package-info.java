/** Tail, merge-read, subscription: one ordered read over archive, live log and memory. */
@NullMarked
@CheckReturnValue
package dev.tidemark.read;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
