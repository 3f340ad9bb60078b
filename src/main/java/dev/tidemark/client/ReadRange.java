package dev.tidemark.client;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Which events to read. {@link #all} and what its methods change; immutable, any thread.
 *
 * <p>Gaps: by default a read throws when events are missing in its range. {@link #takingGaps} goes on behind them.
 */
public final class ReadRange {
    private static final ReadRange ALL = new ReadRange(Map.of(), null);

    private final Map<String, String> query;
    private final @Nullable Consumer<Gap> gaps;

    private ReadRange(Map<String, String> query, @Nullable Consumer<Gap> gaps) {
        this.query = query;
        this.gaps = gaps;
    }

    /** All that there is, oldest first, up to the newest event at some moment of the read. */
    public static ReadRange all() {
        return ALL;
    }

    private ReadRange with(String name, String value) {
        Map<String, String> more = new LinkedHashMap<>(query);
        more.put(name, value);
        return new ReadRange(more, gaps);
    }

    /** Only what lies behind this cursor or id. */
    public ReadRange after(String position) {
        return with("after", position);
    }

    /** Only what lies before this cursor or id. */
    public ReadRange before(String position) {
        return with("before", position);
    }

    /** Only events whose {@link Event#at} is at this time or later. */
    public ReadRange from(Instant time) {
        return with("from", time.toString());
    }

    /** Only events whose {@link Event#at} is before this time. */
    public ReadRange to(Instant time) {
        return with("to", time.toString());
    }

    /** At most so many events, at least 1. */
    public ReadRange limit(long events) {
        if (events < 1) {
            throw new IllegalArgumentException("a limit is at least 1");
        }
        return with("limit", Long.toString(events));
    }

    /** Newest first. */
    public ReadRange newestFirst() {
        return with("order", "desc");
    }

    /** {@link View#LIVE} by default. */
    public ReadRange view(View view) {
        return with("view", view.text());
    }

    /** Goes on behind missing events; {@code gaps} is told of each gap in its place, on the thread that reads. */
    public ReadRange takingGaps(Consumer<Gap> gaps) {
        Map<String, String> more = new LinkedHashMap<>(query);
        more.put("on_gap", "continue");
        return new ReadRange(more, Objects.requireNonNull(gaps));
    }

    Map<String, String> query() {
        return query;
    }

    void gap(Gap gap) {
        if (gaps == null) {
            throw gap.refusedByDefault();
        }
        gaps.accept(gap);
    }
}
