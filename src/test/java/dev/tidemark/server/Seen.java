package dev.tidemark.server;

import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;

/**
 * One event of a {@link Writer} as a reader saw it.
 *
 * @param id of the event; ids sort as texts
 * @param writer who wrote it
 * @param number which of the writer's events it is, from 0
 */
record Seen(String id, int writer, long number) {
    private static final String END = "{\"type\":\"end\"";

    static Seen of(JsonObject event) {
        JsonObject data = event.getJsonObject("data");
        return new Seen(event.getString("id"), data.getInteger("w"), data.getLong("n"));
    }

    /** The events of an NDJSON answer that must be complete and without gaps. Quick: it is used on whole streams, many times. */
    static List<Seen> ofLines(String answer) {
        List<Seen> seen = new ArrayList<>();
        int from = 0;
        while (!answer.startsWith(END, from)) {
            int to = answer.indexOf('\n', from);
            if (to < 0) {
                throw new AssertionError("the answer was cut: ..." + answer.substring(Math.max(0, from - 300)));
            }
            if (answer.startsWith("{\"type\"", from)) {
                throw new AssertionError("unexpected: " + answer.substring(from, to));
            }
            seen.add(ofLine(answer, from, to));
            from = to + 1;
        }
        if (answer.indexOf("\"complete\":true", from) < 0) {
            throw new AssertionError("not complete: " + answer.substring(from));
        }
        return seen;
    }

    private static Seen ofLine(String text, int from, int to) {
        int id = text.indexOf("\"id\":\"", from) + 6;
        int data = text.indexOf("\"data\":{\"w\":", from);
        if (data < 0 || data > to) {
            throw new AssertionError("not a writer's event: " + text.substring(from, to));
        }
        int w = data + 12;
        int comma = text.indexOf(',', w);
        int n = text.indexOf("\"n\":", comma) + 4;
        int end = text.indexOf(',', n);
        return new Seen(
                text.substring(id, text.indexOf('"', id)),
                Integer.parseInt(text, w, comma, 10),
                Long.parseLong(text, n, end, 10));
    }

    /** That ids rise strictly. */
    static void assertRising(List<Seen> events, String what) {
        for (int i = 1; i < events.size(); i++) {
            if (events.get(i).id().compareTo(events.get(i - 1).id()) <= 0) {
                throw new AssertionError(what + ": " + events.get(i) + " after " + events.get(i - 1));
            }
        }
    }

    /**
     * That nothing is missing between the first and the last event of each writer, and nothing is there twice or out of order. For
     * writers all of whose appends were stored.
     */
    static void assertContiguous(List<Seen> events, String what) {
        assertRising(events, what);
        List<Long> next = new ArrayList<>();
        for (Seen event : events) {
            while (next.size() <= event.writer()) {
                next.add(-1L);
            }
            long wanted = next.get(event.writer());
            if (wanted >= 0 && event.number() != wanted) {
                throw new AssertionError(what + ": " + event + " instead of number " + wanted);
            }
            next.set(event.writer(), event.number() + 1);
        }
    }
}
