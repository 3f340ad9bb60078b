package dev.tidemark.retention;

import dev.tidemark.event.Clock;
import dev.tidemark.event.Position;
import dev.tidemark.event.StreamSettings;
import dev.tidemark.fold.TrimBounds;
import java.util.function.LongSupplier;

/**
 * When Redis is too full, windows shrink: what is folded is trimmed oldest first over all streams, whatever they say. How much that
 * frees isn't known before, so one bound for all moves from the oldest event that is live towards now, a part of the way at each look,
 * until Redis has room again. Looks are made by one thread; the rest is for any.
 */
public final class MemoryPressure implements TrimBounds {
    /** Pressure ends at this share of the mark, so that it doesn't come and go with every event. */
    private static final double RELIEVED = 0.9375;
    /** Above this share of {@code maxmemory}, or after a refusal, the bound moves faster. */
    private static final double URGENT = 0.95;

    private static final int PART = 4;
    private static final int PART_URGENT = 2;

    private final TrimBounds windows;
    private final int highPercent;
    private final Clock clock;
    private volatile boolean on;
    private volatile String trouble = "";
    private volatile long cutMs;

    /**
     * How full Redis is.
     *
     * @param usedBytes what counts against the limit
     * @param maxBytes the limit; 0 if there is none
     * @param refusals appends refused for memory since the start
     */
    public record Usage(long usedBytes, long maxBytes, long refusals) {}

    private long refusals;

    /** @param highPercent {@code redis.memory_high} */
    public MemoryPressure(TrimBounds windows, int highPercent, Clock clock) {
        this.windows = windows;
        this.highPercent = highPercent;
        this.clock = clock;
    }

    @Override
    public Bounds of(StreamSettings settings, long nowMs) {
        Bounds wanted = windows.of(settings, nowMs);
        long cut = cutMs;
        return cut == 0
                ? wanted
                : new Bounds(
                        wanted.keepEvents(), wanted.keepBytes(), Position.max(wanted.keepFrom(), new Position(cut, 0)));
    }

    /** Whether Redis is too full: what is folded goes early, what isn't is folded at once. */
    public boolean isOn() {
        return on;
    }

    /** What an operator should know; empty if there is nothing. */
    public String trouble() {
        return trouble;
    }

    /**
     * Takes what Redis says now.
     *
     * @param oldest gives the time of the oldest event that is folded and live, {@link Long#MAX_VALUE} if there is none; asked only
     *     under pressure
     */
    void look(Usage usage, LongSupplier oldest) {
        boolean refused = usage.refusals() > refusals;
        refusals = usage.refusals();
        double high = usage.maxBytes() * (highPercent / 100.0);
        boolean limited = usage.maxBytes() > 0;
        boolean above = limited && usage.usedBytes() > (on ? high * RELIEVED : high);
        on = refused || above;
        if (!on) {
            cutMs = 0;
            trouble = "";
            return;
        }
        trouble = "Redis is too full: " + (usage.usedBytes() >> 20) + " of " + (usage.maxBytes() >> 20)
                + " MiB are used, redis.memory_high is " + highPercent + "%"
                + (refused ? ", and it refuses appends" : "")
                + "; folded events are trimmed early, whatever the windows of streams say";
        boolean urgent = refused || usage.usedBytes() > usage.maxBytes() * URGENT;
        long nowMs = clock.wallMs();
        long oldestMs = oldest.getAsLong();
        if (oldestMs < nowMs) {
            long fromMs = Math.max(cutMs, oldestMs);
            long step = Math.max(1, (nowMs - fromMs) / (urgent ? PART_URGENT : PART));
            cutMs = Math.max(cutMs, Math.min(nowMs, fromMs + step));
        }
    }
}
