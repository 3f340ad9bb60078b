package dev.tidemark.server;

import dev.tidemark.event.Position;
import dev.tidemark.fold.Folds;
import dev.tidemark.ingest.ArchivedAck;
import dev.tidemark.keeper.LiveStream;
import io.vertx.core.Future;

/** {@code ack=archived}: asks the fold until W has reached the events. */
record FoldAck(Folds folds) implements ArchivedAck {
    @Override
    public Future<Void> archived(LiveStream stream, Position through) {
        return folds.foldAll(stream)
                .compose(watermark ->
                        watermark.isBefore(through) ? archived(stream, through) : Future.succeededFuture());
    }
}
