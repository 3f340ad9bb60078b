/** Runs the benchmarks, and what they share. The benchmarks themselves are in the packages of what they measure. */
@NullMarked
@CheckReturnValue
package dev.tidemark.benchmark;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
