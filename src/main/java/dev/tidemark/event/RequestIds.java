package dev.tidemark.event;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The ids that the events of one request got, in the order in which they were sent: enough to give the same answer again. Immutable.
 *
 * <p>Minted ids follow each other, so they are kept as runs. Where claimed times scatter them into more than {@link #RUNS_MAX} runs,
 * only their number, the first, the last and the highest one are kept: memory is bounded, and {@link #isWhole} says so.
 *
 * <pre>
 *   text of runs         EVT0KHTOWnGLuC,EVT0KHTOWnGLv0+4        one id; then one and the four after it
 *   text of scattered    ~5000,EVT…,EVT…,EVT…                   count; first, last, highest
 * </pre>
 */
public final class RequestIds {
    public static final int RUNS_MAX = 32;
    private static final int TEXT_LENGTH_MAX = RUNS_MAX * (EventId.LENGTH + 8) + 8;

    private static final int FIRST = 0;
    private static final int LAST = 1;
    private static final int HIGHEST = 2;
    private static final int SCATTERED = 3;

    /** Numbers of the ids that runs start with; or first, last and highest. */
    private final long[] starts;
    /** Length of each run; null where the ids are scattered. */
    private final int @Nullable [] lengths;

    private final int count;

    private RequestIds(long[] starts, int @Nullable [] lengths, int count) {
        this.starts = starts;
        this.lengths = lengths;
        this.count = count;
    }

    /** The ids at these positions, at least one. */
    public static RequestIds of(List<Position> positions) {
        long[] starts = new long[RUNS_MAX];
        int[] lengths = new int[RUNS_MAX];
        int runs = 0;
        for (Position position : positions) {
            long number = EventId.of(position).number();
            if (runs > 0 && number == starts[runs - 1] + lengths[runs - 1]) {
                lengths[runs - 1]++;
            } else if (runs == RUNS_MAX) {
                return scattered(positions);
            } else {
                starts[runs] = number;
                lengths[runs++] = 1;
            }
        }
        return new RequestIds(Arrays.copyOf(starts, runs), Arrays.copyOf(lengths, runs), positions.size());
    }

    private static RequestIds scattered(List<Position> positions) {
        Position highest = positions.stream().reduce(Position.ZERO, Position::max);
        return scattered(positions.size(), positions.get(0), positions.get(positions.size() - 1), highest);
    }

    private static RequestIds scattered(int count, Position first, Position last, Position highest) {
        long[] kept = new long[SCATTERED];
        kept[FIRST] = EventId.of(first).number();
        kept[LAST] = EventId.of(last).number();
        kept[HIGHEST] = EventId.of(highest).number();
        return new RequestIds(kept, null, count);
    }

    /**
     * What {@link #starts} and {@link #lengths} gave.
     *
     * @param count of all ids
     * @param lengths empty where the ids are scattered
     * @throws IllegalArgumentException if they can't be
     */
    public static RequestIds restore(int count, long[] starts, int[] lengths) {
        boolean scattered = lengths.length == 0;
        if (starts.length != (scattered ? SCATTERED : lengths.length) || starts.length > RUNS_MAX || count < 1) {
            throw new IllegalArgumentException(starts.length + " runs can't be the ids of a request");
        }
        long sum = 0;
        for (int i = 0; i < starts.length; i++) {
            int more = scattered ? 0 : lengths[i] - 1;
            if (starts[i] < 0 || more < 0 || starts[i] + more < 0) {
                throw new IllegalArgumentException("no run of " + more + " more ids begins at " + starts[i]);
            }
            sum += more + 1;
        }
        if (!scattered && sum != count) {
            throw new IllegalArgumentException("the runs have " + sum + " ids, not " + count);
        }
        return new RequestIds(starts.clone(), scattered ? null : lengths.clone(), count);
    }

    /** Number of events. */
    public int count() {
        return count;
    }

    /** Whether all ids are known. */
    public boolean isWhole() {
        return lengths != null;
    }

    public Position first() {
        return position(starts[FIRST]);
    }

    /** Of the last event as sent. */
    public Position last() {
        return position(lengths == null ? starts[LAST] : starts[starts.length - 1] + lengths[lengths.length - 1] - 1);
    }

    /** The greatest of all. */
    public Position highest() {
        if (lengths == null) {
            return position(starts[HIGHEST]);
        }
        long highest = 0;
        for (int i = 0; i < lengths.length; i++) {
            highest = Math.max(highest, starts[i] + lengths[i] - 1);
        }
        return position(highest);
    }

    /** Length of the text, at most. */
    public int textLengthMax() {
        return starts.length * (EventId.LENGTH + 8) + 8;
    }

    /** All ids, in the order of the events; of scattered ones, the first and the last. */
    public List<Position> known() {
        if (lengths == null) {
            return List.of(first(), last());
        }
        List<Position> all = new ArrayList<>(count);
        for (int run = 0; run < lengths.length; run++) {
            for (int i = 0; i < lengths[run]; i++) {
                all.add(position(starts[run] + i));
            }
        }
        return all;
    }

    /** Numbers of the ids that the runs begin with; of scattered ones: first, last, highest. */
    public long[] starts() {
        return starts.clone();
    }

    /** Lengths of the runs; empty where the ids are scattered. */
    public int[] lengths() {
        return lengths == null ? new int[0] : lengths.clone();
    }

    private static Position position(long number) {
        return new EventId(number).position();
    }

    /** The ids that {@code text} is; null if it isn't exactly what {@link #toString} gives. */
    public static @Nullable RequestIds parseOrNull(String text) {
        if (text.length() > TEXT_LENGTH_MAX) {
            return null;
        }
        try {
            RequestIds ids = text.startsWith("~") ? parseScattered(text) : parseRuns(text);
            return ids.toString().equals(text) ? ids : null;
        } catch (IllegalArgumentException | ArithmeticException | Problem notIds) {
            return null;
        }
    }

    private static RequestIds parseScattered(String text) {
        String[] parts = text.substring(1).split(",", -1);
        if (parts.length != SCATTERED + 1) {
            throw new IllegalArgumentException("not ids: " + text);
        }
        long[] kept = new long[SCATTERED];
        for (int i = 0; i < SCATTERED; i++) {
            kept[i] = EventId.parse(parts[i + 1]).number();
        }
        return restore(Integer.parseInt(parts[0]), kept, new int[0]);
    }

    private static RequestIds parseRuns(String text) {
        String[] parts = text.split(",", -1);
        long[] starts = new long[parts.length];
        int[] lengths = new int[parts.length];
        long count = 0;
        for (int i = 0; i < parts.length; i++) {
            int plus = parts[i].indexOf('+');
            starts[i] = EventId.parse(plus < 0 ? parts[i] : parts[i].substring(0, plus))
                    .number();
            lengths[i] = plus < 0 ? 1 : Math.addExact(1, Integer.parseInt(parts[i].substring(plus + 1)));
            count += lengths[i];
        }
        return restore(Math.toIntExact(count), starts, lengths);
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        if (lengths == null) {
            text.append('~').append(count);
        }
        for (int i = 0; i < starts.length; i++) {
            text.append(text.isEmpty() ? "" : ",").append(new EventId(starts[i]));
            if (lengths != null && lengths[i] > 1) {
                text.append('+').append(lengths[i] - 1);
            }
        }
        return text.toString();
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof RequestIds ids
                && count == ids.count
                && Arrays.equals(starts, ids.starts)
                && Arrays.equals(lengths, ids.lengths);
    }

    @Override
    public int hashCode() {
        return 31 * Arrays.hashCode(starts) + count;
    }
}
