package dev.tidemark.client;

import dev.tidemark.client.wire.JsonFields;
import dev.tidemark.client.wire.LineReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/**
 * A range under way: events come from the connection as they are asked for, so memory stays flat however long the range is, and a slow
 * reader slows the server down. To be closed, if it isn't read to its end. One thread.
 *
 * <p>{@link #hasNext} and {@link #next} wait for the server, and throw {@link TidemarkException} if the answer ends before its end was
 * said ({@code cut}, {@code connection_lost}), says itself that it isn't whole ({@code incomplete}), or has a gap that the range doesn't take
 * ({@code gap}). {@link #cursor} then tells where a new read can go on.
 */
public final class EventReader implements Iterator<Event>, AutoCloseable {
    private static final int LINE_BYTES_MAX = 256 << 20;

    private final Http http;
    private final ReadRange range;
    private final InputStream in;
    private final LineReader lines;

    private @Nullable Event next;
    private @Nullable String cursor;
    private boolean ended;
    private @Nullable TidemarkException failure;

    EventReader(Http http, ReadRange range, InputStream in) {
        this.http = http;
        this.range = range;
        this.in = in;
        this.lines = new LineReader(in, LINE_BYTES_MAX);
    }

    @Override
    public boolean hasNext() {
        if (failure != null) {
            throw failure;
        }
        try {
            while (next == null && !ended) {
                take(lines.next());
            }
        } catch (IOException e) {
            throw fail(http.lost(e));
        } catch (JsonFields.Malformed e) {
            throw fail(TidemarkException.of(
                    TidemarkException.NOT_UNDERSTOOD,
                    "the server sent what isn't an event: " + e.getMessage(),
                    false,
                    e));
        } catch (TidemarkException e) {
            throw fail(e);
        }
        return next != null;
    }

    private TidemarkException fail(TidemarkException e) {
        failure = e;
        close();
        return e;
    }

    private void take(byte @Nullable [] line) {
        if (line == null) {
            throw TidemarkException.of(
                    TidemarkException.CUT, "the answer was cut off behind cursor " + cursor, true, null);
        }
        JsonFields fields = JsonFields.of(line);
        switch (fields.text("type", "event")) {
            case "event" -> next = Event.of(fields, line);
            case "gap" -> range.gap(Gap.of(fields));
            case "end" -> end(fields);
            case "error" -> throw TidemarkException.ofMessage(fields);
            default -> {
                // A kind of line that later servers may have.
            }
        }
    }

    private void end(JsonFields fields) {
        cursor = fields.text("cursor", cursor == null ? "" : cursor);
        if (!fields.isTrue("complete")) {
            throw TidemarkException.of(
                    TidemarkException.INCOMPLETE, "the server could give the range only up to here", true, null);
        }
        ended = true;
        close();
    }

    @Override
    public Event next() {
        if (!hasNext() || next == null) {
            throw new NoSuchElementException("the range has ended");
        }
        Event event = next;
        next = null;
        cursor = event.cursor();
        return event;
    }

    /** Behind the event that {@link #next} gave last, or behind the whole range once that has ended; null before either. */
    public @Nullable String cursor() {
        return cursor;
    }

    /** The rest as a stream, sequential, lazy, and with the exceptions of {@link #hasNext}. Closing it closes this. */
    public Stream<Event> stream() {
        Spliterator<Event> rest = Spliterators.spliteratorUnknownSize(
                this, Spliterator.ORDERED | Spliterator.NONNULL | Spliterator.IMMUTABLE);
        return StreamSupport.stream(rest, false).onClose(this::close);
    }

    /** Ends the connection of a range that isn't at its end. More than once is no trouble. */
    @Override
    public void close() {
        try {
            in.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
