/** Tests of the archive, and the archive in memory that others test with. */
@NullMarked
package dev.tidemark.archive;

import org.jspecify.annotations.NullMarked;
