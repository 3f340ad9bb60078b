/** Redis Streams: append, fence, range, trim; the child Redis. The only importer of the Redis client. */
@NullMarked
@CheckReturnValue
package dev.tidemark.livelog;

import com.google.errorprone.annotations.CheckReturnValue;
import org.jspecify.annotations.NullMarked;
