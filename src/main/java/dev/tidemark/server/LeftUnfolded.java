package dev.tidemark.server;

import dev.tidemark.fold.FoldLanes;
import dev.tidemark.fold.FoldStatus;
import dev.tidemark.keeper.LiveStream;
import java.util.Collection;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a stop leaves in Redis alone, said in the log: the one thing that an operator must know before Redis is thrown away. */
final class LeftUnfolded {
    private static final Logger LOG = LoggerFactory.getLogger(LeftUnfolded.class);

    private LeftUnfolded() {}

    /** A line a stream that isn't folded up to its tail. */
    static void log(Collection<? extends LiveStream> streams, FoldLanes fold) {
        for (LiveStream stream : streams) {
            FoldStatus status = fold.status(stream);
            if (stream.snapshot().isOpen() && stream.snapshot().tail().isAfter(status.watermark())) {
                LOG.warn(
                        "stream {}: {} events above its watermark {} are only in Redis",
                        stream.name(),
                        stream.snapshot().lastOrdinal() - status.archivedOrdinal(),
                        status.watermark());
            }
        }
    }
}
