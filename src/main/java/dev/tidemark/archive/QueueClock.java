package dev.tidemark.archive;

import java.util.concurrent.TimeUnit;
import net.openhft.chronicle.core.time.TimeProvider;

/** The queue's clock: it stands at the start of the roll file that is written, so that files follow the ids' time, not the wall clock. */
final class QueueClock implements TimeProvider {
    private volatile long ms;

    QueueClock(long ms) {
        this.ms = ms;
    }

    void set(long newMs) {
        ms = newMs;
    }

    @Override
    public long currentTimeMillis() {
        return ms;
    }

    @Override
    public long currentTimeMicros() {
        return TimeUnit.MILLISECONDS.toMicros(ms);
    }

    @Override
    public long currentTimeNanos() {
        return TimeUnit.MILLISECONDS.toNanos(ms);
    }
}
