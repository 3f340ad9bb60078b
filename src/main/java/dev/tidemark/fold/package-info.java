/** The fold/trim cycle: slice, append, force, publish W, trim. The only user of the trimmer and of the archive's appender. */
@NullMarked
@CheckReturnValue
package dev.tidemark.fold;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
