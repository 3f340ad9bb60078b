/** Windows and beats: decides how much stays in the live log and asks {@code fold}; never trims itself. */
@NullMarked
@CheckReturnValue
package dev.tidemark.retention;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
