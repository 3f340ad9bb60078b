/** Tests of the HTTP edge on a real server, with ingest, reads and folds made by hand. */
@NullMarked
package dev.tidemark.http;

import org.jspecify.annotations.NullMarked;
