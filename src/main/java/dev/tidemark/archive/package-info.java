/** Chronicle Queue: append and force, recover, seek, scan, prune, verify. The only importer of {@code net.openhft}. */
@NullMarked
@CheckReturnValue
package dev.tidemark.archive;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
