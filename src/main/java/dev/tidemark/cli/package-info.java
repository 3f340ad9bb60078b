/** Commands for people. */
@NullMarked
@CheckReturnValue
package dev.tidemark.cli;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
