package dev.tidemark.server;

import dev.tidemark.event.Position;
import dev.tidemark.fold.FoldStatus;
import dev.tidemark.keeper.LiveStream;
import dev.tidemark.keeper.StreamSnapshot;

/** What health says of streams that can't be folded, added up stream by stream. One thread. */
final class FoldTrouble {
    private final long nowMs;
    private long streams;
    private long overRetained;
    private long unfolded;
    private long unfoldedBytes;
    private long oldestMs = Long.MAX_VALUE;
    private long sinceMs = Long.MAX_VALUE;
    private String example = "";

    /** @param nowMs Unix milliseconds */
    FoldTrouble(long nowMs) {
        this.nowMs = nowMs;
    }

    void add(LiveStream stream, FoldStatus status) {
        streams++;
        overRetained += status.overRetained();
        sinceMs = Math.min(sinceMs, status.failingSinceMs());
        example = stream.name() + ": " + status.reason();
        StreamSnapshot memory = stream.snapshot();
        if (memory.isOpen()) {
            Position watermark = status.watermark();
            unfolded += Math.max(0, memory.lastOrdinal() - status.archivedOrdinal());
            unfoldedBytes += memory.payloadBytesAfter(watermark);
            long oldest = memory.covers(watermark) ? memory.oldestSealedMsAfter(watermark) : watermark.ms();
            oldestMs = Math.min(oldestMs, oldest);
        }
    }

    boolean isEmpty() {
        return streams == 0;
    }

    /** Since when the first of them fails, Unix milliseconds. */
    long sinceMs() {
        return sinceMs;
    }

    /** A sentence with how many, how much and how old. */
    String detail() {
        String age = oldestMs == Long.MAX_VALUE || oldestMs == 0
                ? ""
                : ", the oldest " + Math.max(0, nowMs - oldestMs) / 1_000 + " s old";
        return "folding fails for " + streams + (streams == 1 ? " stream" : " streams") + " since "
                + Math.max(0, nowMs - sinceMs) / 1_000 + " s; " + unfolded + " events (" + unfoldedBytes
                + " bytes in memory" + age + ") aren't folded, " + overRetained
                + " of them are over-retained, nothing is trimmed; for example " + example;
    }
}
