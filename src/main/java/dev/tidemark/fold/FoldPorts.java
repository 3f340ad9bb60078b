package dev.tidemark.fold;

import dev.tidemark.event.Clock;
import dev.tidemark.keeper.SealedChunks;
import dev.tidemark.livelog.LiveLogReader;
import dev.tidemark.livelog.LiveLogTrimmer;

/** What the fold works with. */
public record FoldPorts(
        SealedChunks keepers,
        LiveLogReader reader,
        LiveLogTrimmer trimmer,
        Archives archives,
        TrimBounds bounds,
        Clock clock) {}
