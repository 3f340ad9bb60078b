/** Compares Tidemark with what people would use instead: one system at a time, the same jobs, the same payload. */
@NullMarked
@CheckReturnValue
package dev.tidemark.loadtest.compare;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
