package dev.tidemark.keeper;

import dev.tidemark.event.Event;
import dev.tidemark.event.EventId;
import dev.tidemark.event.NewEvent;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.Setting;
import dev.tidemark.event.StreamSettings;
import dev.tidemark.event.Units;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Where events stand in a stripe whose order isn't final on arrival, and its frontier. An event with a claimed time inside the
 * acceptance window takes the next free number of that millisecond, never one above its entry id; a late one keeps its entry id.
 * Owned by the stripe's keeper.
 *
 * <p>The frontier of a stripe is min(lowest id in flight − 1, end of the millisecond before clock − window); it never goes back, and
 * ids are only given above it.
 */
final class Acceptance {
    private static final int SEQUENCES = 1 << EventId.SEQUENCE_BITS;
    /** Refused lines that a problem names. */
    private static final int LINES_MAX = 100;

    private final int node;
    private final boolean onlyStripe;
    private final StreamClock clock;
    /** The highest sequence of this node used in a millisecond above the frontier, as entry id or as event id. */
    private final TreeMap<Long, Integer> used = new TreeMap<>();

    private Position frontier;
    private Position tail;
    /** The newest number used in the stream as far as this stripe knows, and since when it does. */
    private Position newest;

    private long newestNs;

    /**
     * @param onlyStripe whether the stream has no other stripe
     * @param frontier nothing is given at or below it
     * @param tail the newest acknowledged event
     */
    Acceptance(int node, boolean onlyStripe, StreamClock clock, Position frontier, Position tail) {
        this.node = node;
        this.onlyStripe = onlyStripe;
        this.clock = clock;
        this.frontier = frontier;
        this.tail = tail;
        this.newest = tail;
        this.newestNs = clock.monotonicNs();
    }

    /** Where an event stands. */
    record Place(Position id, boolean late) {}

    Position frontier() {
        return frontier;
    }

    /** Id of the newest acknowledged event. */
    Position tail() {
        return tail;
    }

    /** An event was acknowledged, or found at the start. */
    void acknowledged(Event event) {
        tail = Position.max(tail, event.id());
    }

    /** Its numbers are taken: an event found at the start, above the frontier or not. */
    void taken(Event event) {
        use(event.id());
        use(event.entry());
        newest = Position.max(newest, event.entry());
    }

    private void use(Position number) {
        boolean ours = number.seq() >>> EventId.SEQUENCE_BITS == node;
        if (ours && number.ms() >= frontier.ms()) {
            used.merge(number.ms(), (int) (number.seq() & (SEQUENCES - 1)), Math::max);
        }
    }

    /** Gives an event its place; {@code entry} is its entry id, just minted. */
    Place place(NewEvent event, Position entry, StreamSettings settings) {
        use(entry);
        newest = Position.max(newest, entry);
        newestNs = clock.monotonicNs();
        if (settings.acceptanceWindowMs() == 0 || event.time() == Event.NO_TIME || event.time() >= entry.ms()) {
            return new Place(entry, false);
        }
        return event.time() <= frontier.ms()
                ? new Place(entry, true)
                : new Place(firstFree(event.time(), entry), false);
    }

    private Position firstFree(long claimedMs, Position entry) {
        for (long ms = claimedMs; ms < entry.ms(); ms++) {
            int sequence = used.getOrDefault(ms, -1) + 1;
            if (sequence < SEQUENCES) {
                used.put(ms, sequence);
                return new Position(ms, ((long) node << EventId.SEQUENCE_BITS) | sequence);
            }
        }
        return entry;
    }

    /**
     * Moves the frontier as far as it can go now.
     *
     * @param streamNewest the newest event of all stripes
     * @param highMs it stays below this, with room for an id: after a kill it starts there
     */
    void advance(StreamSettings settings, @Nullable Position lowestInFlight, Position streamNewest, long highMs) {
        if (streamNewest.isAfter(newest)) {
            newest = streamNewest;
            newestNs = clock.monotonicNs();
        }
        long windowMs = settings.acceptanceWindowMs();
        Position target = onlyStripe && windowMs == 0 ? tail : endBefore(clock.nowMs() - windowMs);
        if (clock.monotonicNs() - newestNs > windowMs * 1_000_000) {
            // Ids may be ahead of the wall clock: what is older than the window by monotonic time is final too.
            target = Position.max(target, newest);
        }
        raise(Position.min(target, endBefore(highMs - 1)), lowestInFlight);
    }

    /** Moves the frontier to {@code target}, or as near as what is in flight allows. */
    void raise(Position target, @Nullable Position lowestInFlight) {
        Position allowed = lowestInFlight == null ? target : Position.min(target, below(lowestInFlight));
        if (allowed.isAfter(frontier)) {
            frontier = allowed;
            used.headMap(frontier.ms()).clear();
        }
    }

    /** The last id before a millisecond. */
    static Position endBefore(long ms) {
        return ms <= 0 ? Position.ZERO : new Position(ms - 1, EventId.LOW_MASK);
    }

    private static Position below(Position id) {
        return id.seq() == 0 ? endBefore(id.ms()) : id.previous();
    }

    /** Why events can't be taken with the times that they claim, or null if they can. */
    @Nullable
    Problem refusalOrNull(List<NewEvent> events, StreamSettings settings, long nowMs) {
        if (settings.acceptanceWindowMs() == 0) {
            return null;
        }
        long newest = nowMs + settings.futureToleranceMs();
        List<Integer> lines = new ArrayList<>();
        NewEvent first = null;
        for (NewEvent event : events) {
            if (event.time() != Event.NO_TIME && (event.time() > newest || isRefusedAsLate(event, settings))) {
                first = first == null ? event : first;
                if (lines.size() < LINES_MAX) {
                    lines.add(event.line());
                }
            }
        }
        return first == null ? null : refusal(first, lines, settings, newest);
    }

    private boolean isRefusedAsLate(NewEvent event, StreamSettings settings) {
        return settings.refusesLate() && !event.rescueLate() && event.time() <= frontier.ms();
    }

    private Problem refusal(NewEvent event, List<Integer> lines, StreamSettings settings, long newest) {
        boolean future = event.time() > newest;
        Setting setting = future ? Setting.FUTURE_TOLERANCE : Setting.ACCEPTANCE_WINDOW;
        String oldest = settings.refusesLate() ? text(frontier.ms() + 1) : "0001-01-01T00:00:00Z";
        String detail = "event time " + text(event.time()) + (future ? " is too far ahead" : " is too late")
                + "; accepted is " + oldest + " to " + text(newest) + " (" + setting.key() + " is "
                + Units.formatDuration(settings.value(setting))
                + (future ? "" : ", late is refuse; ?late=rescue stores it and marks it late") + ")";
        return new Problem(Problem.Kind.TIME_REFUSED, detail)
                .with("lines", lines)
                .with("time", event.time())
                .with("accepted", List.of(oldest, text(newest)))
                .with("setting", setting.key())
                .with("stored", Problem.Stored.NO.text());
    }

    private static String text(long ms) {
        return Instant.ofEpochMilli(ms).toString();
    }
}
