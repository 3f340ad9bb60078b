package dev.tidemark.server;

import dev.tidemark.fold.FoldStatus;
import dev.tidemark.fold.Folds;
import dev.tidemark.keeper.LiveStream;
import dev.tidemark.read.Folding;
import dev.tidemark.read.Seam;

/** What seams show of the fold. */
record FoldFigures(Folds folds) implements Folding {
    @Override
    public Figures of(LiveStream stream) {
        FoldStatus status = folds.status(stream);
        Seam.LastFold last = new Seam.LastFold(status.outcome(), status.outcomeMs(), status.reason());
        FoldStatus.LiveLog seen = status.liveLog();
        LiveLogFigures liveLog = seen == null
                ? null
                : new LiveLogFigures(status.firstLive(), seen.events(), seen.bytes(), seen.lastOrdinal());
        return new Figures(last, status.overRetained(), liveLog);
    }
}
