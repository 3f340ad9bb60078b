package dev.tidemark.client;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/** From where, and how, to follow a stream. Immutable; any thread. */
public final class Follow {
    private static final int HEARTBEAT_SECONDS = 15;
    private static final int HEARTBEAT_SECONDS_MAX = 60;

    /** What the server does for a subscriber that is slower than the stream. */
    public enum Slow {
        /** It goes on at its own pace, from the archive if need be, and loses nothing. */
        ARCHIVE,
        /** It is taken to the tail; a gap {@code skipped} tells what it missed. */
        SKIP,
        /** The connection is closed, and made again behind the last event. */
        CLOSE
    }

    private final Map<String, String> start;
    private final Map<String, String> query;
    private final int heartbeatSeconds;

    private Follow(Map<String, String> start, Map<String, String> query, int heartbeatSeconds) {
        this.start = start;
        this.query = query;
        this.heartbeatSeconds = heartbeatSeconds;
    }

    private static Follow from(String name, String value) {
        return new Follow(Map.of(name, value), Map.of(), HEARTBEAT_SECONDS);
    }

    /** Behind a cursor or id: the first event is the next one. */
    public static Follow after(String position) {
        if (position.isEmpty()) {
            throw new IllegalArgumentException("a position is a cursor or an id");
        }
        return from("after", position);
    }

    /** From the oldest event that there is. */
    public static Follow earliest() {
        return from("after", "earliest");
    }

    /** Only what comes from now on. */
    public static Follow latest() {
        return from("after", "latest");
    }

    /**
     * The newest events and then what comes, in one cut.
     *
     * @param n 0 to 10,000
     */
    public static Follow tail(int n) {
        if (n < 0) {
            throw new IllegalArgumentException("a tail has 0 events or more");
        }
        return from("tail", Integer.toString(n));
    }

    private Follow with(String name, String value) {
        Map<String, String> more = new LinkedHashMap<>(query);
        more.put(name, value);
        return new Follow(start, more, heartbeatSeconds);
    }

    /** {@link View#LIVE} by default. */
    public Follow view(View view) {
        return with("view", view.text());
    }

    /** {@link Slow#ARCHIVE} by default. */
    public Follow slow(Slow slow) {
        return with("slow", slow.name().toLowerCase(Locale.ROOT));
    }

    /**
     * After how much silence the server says that it is still there. A connection that is silent for more than twice as long, and 5 s,
     * is taken for dead and made again.
     *
     * @param seconds 1 to 60; 15 by default
     */
    public Follow heartbeatSeconds(int seconds) {
        if (seconds < 1 || seconds > HEARTBEAT_SECONDS_MAX) {
            throw new IllegalArgumentException("heartbeats come every 1 to 60 seconds");
        }
        return new Follow(start, query, seconds);
    }

    /** The query of a connection: behind {@code cursor}, or from the start if it is empty. */
    Map<String, String> query(String cursor) {
        Map<String, String> all = new LinkedHashMap<>(cursor.isEmpty() ? start : Map.of("after", cursor));
        all.putAll(query);
        all.put("heartbeat", Integer.toString(heartbeatSeconds));
        return all;
    }

    long silenceMsMax() {
        return heartbeatSeconds * 2_000L + 5_000;
    }
}
