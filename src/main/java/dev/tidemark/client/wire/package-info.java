/** How answers are read and tries are spaced: what the client and the command line share. Not an API: it changes as they need it. */
@NullMarked
package dev.tidemark.client.wire;

import org.jspecify.annotations.NullMarked;
