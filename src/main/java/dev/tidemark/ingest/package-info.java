/** Body formats, validation, placement of appends on keepers; creating and deleting streams. */
@NullMarked
@CheckReturnValue
package dev.tidemark.ingest;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
