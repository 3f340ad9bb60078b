/** Mint, timeline, sealing, tail index, stripes, frontier: the single owner of a stripe. */
@NullMarked
@CheckReturnValue
package dev.tidemark.keeper;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
