package dev.tidemark.ingest;

import dev.tidemark.event.ContentType;
import dev.tidemark.event.Event;
import dev.tidemark.event.EventId;
import dev.tidemark.event.Limits;
import dev.tidemark.event.NewEvent;
import dev.tidemark.event.Problem;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Turns a decoded body into events, all or nothing. Payloads keep their bytes: JSON is checked where it lies and never written anew.
 * Problems in a body name the physical line and the column (in code points), both from 1. Any thread.
 */
final class BodyParser {
    /** More refused times than these aren't listed. */
    private static final int REFUSED_LINES_MAX = 100;

    private final Limits limits;

    BodyParser(Limits limits) {
        this.limits = limits;
    }

    /**
     * The events of a body, at least one.
     *
     * @param time claimed time of the events that have none of their own, or {@link Event#NO_TIME}
     * @throws Problem {@link Problem.Kind#BAD_BODY}, {@link Problem.Kind#TOO_LARGE}, {@link Problem.Kind#TIME_REFUSED} or
     *     {@link Problem.Kind#NONMONOTONIC}
     */
    List<NewEvent> parse(BodyFormat format, byte[] body, long time) {
        if (body.length == 0) {
            throw new Problem(Problem.Kind.BAD_BODY, "the body is empty; at least one event is needed");
        }
        if (body.length > limits.bodyBytesMax()) {
            throw bodyTooLarge(limits.bodyBytesMax(), "the body");
        }
        try {
            return switch (format.form()) {
                case RAW -> List.of(one(body, format.type(), time));
                case JSON -> {
                    NewEvent event = one(body, format.type(), time);
                    new JsonScanner(body).exactlyOneValue(0, body.length);
                    yield List.of(event);
                }
                case LINES -> lines(body, time);
                case ENVELOPES -> envelopes(body, time);
            };
        } catch (MalformedBody e) {
            throw located(body, e);
        }
    }

    private NewEvent one(byte[] body, String type, long time) {
        if (body.length > limits.eventBytesMax()) {
            throw eventTooLarge("the event", body.length);
        }
        return new NewEvent(body, type, time, null);
    }

    private List<NewEvent> lines(byte[] body, long time) {
        List<NewEvent> events = new ArrayList<>();
        JsonScanner scanner = new JsonScanner(body);
        BodyLines lines = new BodyLines(body);
        while (lines.advance()) {
            checkRoom(events, lines);
            scanner.exactlyOneValue(lines.start(), lines.end());
            checkSize(lines.end() - lines.start(), lines);
            byte[] payload = Arrays.copyOfRange(body, lines.start(), lines.end());
            events.add(new NewEvent(payload, ContentType.JSON, time, null).atLine(lines.number()));
        }
        return notEmpty(events);
    }

    private List<NewEvent> envelopes(byte[] body, long time) {
        List<NewEvent> events = new ArrayList<>();
        EnvelopeReader reader = new EnvelopeReader(body, new JsonScanner(body), time);
        BodyLines lines = new BodyLines(body);
        RefusedTimes refused = new RefusedTimes();
        while (lines.advance()) {
            checkRoom(events, lines);
            try {
                NewEvent event = reader.read(lines.start(), lines.end());
                checkSize(event.payload().length, lines);
                checkId(events, event.importId(), lines);
                events.add(event.atLine(lines.number()));
            } catch (Problem e) {
                refused.add(e, lines.number());
            }
        }
        refused.throwIfAny();
        return notEmpty(events);
    }

    private void checkRoom(List<NewEvent> events, BodyLines lines) {
        int max = limits.batchEventsMax();
        if (events.size() == max) {
            throw Problem.tooLarge(
                            "limits.batch_events",
                            max,
                            "line " + lines.number() + " is one event too many; at most " + max
                                    + " are allowed in a request (limits.batch_events)")
                    .with("line", lines.number());
        }
    }

    private void checkSize(int length, BodyLines lines) {
        if (length > limits.eventBytesMax()) {
            throw eventTooLarge("the event on line " + lines.number(), length).with("line", lines.number());
        }
    }

    /** Imported ids must rise within the request; whether they lie above the stream's last one, the keeper knows. */
    private static void checkId(List<NewEvent> events, @Nullable EventId id, BodyLines lines) {
        if (events.isEmpty()) {
            return;
        }
        EventId before = events.get(events.size() - 1).importId();
        if ((id == null) != (before == null)) {
            throw new MalformedBody(
                    lines.start(), "either all envelopes of a request have an id or none; this one differs");
        }
        if (id != null && before != null && id.compareTo(before) <= 0) {
            throw new Problem(
                            Problem.Kind.NONMONOTONIC,
                            "line " + lines.number() + ": id " + id + " isn't above " + before
                                    + " of the event before it")
                    .with("line", lines.number());
        }
    }

    private static List<NewEvent> notEmpty(List<NewEvent> events) {
        if (events.isEmpty()) {
            throw new Problem(Problem.Kind.BAD_BODY, "the body has only blank lines; at least one event is needed");
        }
        return events;
    }

    static Problem bodyTooLarge(int bytesMax, String what) {
        return Problem.tooLarge(
                "limits.body_bytes",
                bytesMax,
                what + " is too large; at most " + bytesMax + " bytes are allowed (limits.body_bytes)");
    }

    private Problem eventTooLarge(String what, int length) {
        int max = limits.eventBytesMax();
        return Problem.tooLarge(
                "limits.event_bytes",
                max,
                what + " has " + length + " bytes; at most " + max + " are allowed (limits.event_bytes)");
    }

    private static Problem located(byte[] body, MalformedBody malformed) {
        int line = 1;
        int column = 1;
        for (int i = 0; i < malformed.offset(); i++) {
            if (body[i] == '\n') {
                line++;
                column = 1;
            } else if ((body[i] & 0xc0) != 0x80) {
                column++;
            }
        }
        return new Problem(Problem.Kind.BAD_BODY, "line " + line + ", column " + column + ": " + malformed.reason())
                .with("line", line)
                .with("column", column);
    }

    /** Collects the lines whose times are refused: the sender gets all of them in one answer. */
    private static final class RefusedTimes {
        private final List<Integer> lines = new ArrayList<>();
        private @Nullable Problem first;

        /** Notes a refused time; throws any other problem. */
        void add(Problem problem, int line) {
            if (problem.kind() != Problem.Kind.TIME_REFUSED) {
                throw problem;
            }
            if (first == null) {
                first = problem;
            }
            if (lines.size() < REFUSED_LINES_MAX) {
                lines.add(line);
            }
        }

        void throwIfAny() {
            if (first != null) {
                throw first.with("lines", List.copyOf(lines));
            }
        }
    }
}
