package dev.tidemark.event;

/** A clock that a test moves by hand. */
public final class FakeClock implements Clock {
    private long wallMs;
    private long monotonicNs;

    public FakeClock(long wallMs) {
        this.wallMs = wallMs;
    }

    /** 2026-11-29T00:00:00Z. */
    public static FakeClock atStart() {
        return new FakeClock(1_795_910_400_000L);
    }

    @Override
    public long wallMs() {
        return wallMs;
    }

    @Override
    public long monotonicNs() {
        return monotonicNs;
    }

    /** Time passes on both. */
    public void advanceMs(long ms) {
        wallMs += ms;
        monotonicNs += ms * 1_000_000;
    }

    /** The wall clock is set; monotonic time doesn't care. */
    public void stepMs(long ms) {
        wallMs += ms;
    }
}
