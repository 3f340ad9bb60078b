package dev.tidemark.fold;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.Chunk;
import dev.tidemark.event.Cursor;
import dev.tidemark.event.Gap;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.Slice;
import dev.tidemark.event.StreamId;
import dev.tidemark.event.StreamName;
import dev.tidemark.read.Reads;
import dev.tidemark.read.Seam;
import dev.tidemark.read.SubscribeRequest;
import dev.tidemark.read.Subscriber;
import dev.tidemark.read.Subscription;
import dev.tidemark.read.View;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A subscriber that remembers what it was given and the cursor of its last event, and resumes with that. */
final class SimulatedFollower implements Subscriber {
    private final String name;
    private final View view;
    private final Random random;
    private final Ledger ledger;
    private final Consumer<String> notes;
    private final Map<String, Position> given = new HashMap<>();
    private final List<Gap> gaps = new ArrayList<>();
    private String cursor = "earliest";
    private @Nullable Subscription subscription;
    private boolean writable = true;
    private Position last = Position.ZERO;
    private Position sealed = Position.ZERO;

    SimulatedFollower(String name, View view, Random random, Ledger ledger, Consumer<String> notes) {
        this.name = name;
        this.view = view;
        this.random = random;
        this.ledger = ledger;
        this.notes = notes;
    }

    Map<String, Position> given() {
        return given;
    }

    List<Gap> gaps() {
        return gaps;
    }

    void connect(StreamName stream, Reads reads) {
        if (subscription == null) {
            SubscribeRequest request = new SubscribeRequest(cursor, -1, view, false, SubscribeRequest.Slow.ARCHIVE);
            notes.accept(this + " connects at " + Cursor.parseOrNull(cursor));
            subscription = reads.subscribe(stream, request, this);
        }
    }

    void cut() {
        if (subscription != null) {
            if (random.nextInt(3) == 0) {
                cursor = subscription.cursor().toString();
            }
            subscription.close();
            subscription = null;
            notes.accept(this + " is cut");
        }
    }

    /** The socket takes more, or doesn't for a while. */
    void change() {
        writable = random.nextBoolean();
        open();
    }

    void open() {
        if (writable && subscription != null) {
            subscription.drained();
        }
        writable = true;
    }

    @Override
    public void hello(StreamId stream, Cursor at, Seam seam) {
        cursor = at.toString();
    }

    @Override
    public void events(List<Slice> events) {
        for (Slice slice : events) {
            for (int i = slice.from(); i < slice.to(); i++) {
                int index = i;
                ledger.watch(() -> event(slice.chunk(), index));
            }
        }
    }

    private void event(Chunk chunk, int i) {
        String event = new String(chunk.payload(i), StandardCharsets.UTF_8);
        Position id = chunk.position(i);
        notes.accept(this + " gets " + event + " entry " + chunk.entry(i) + " id " + id);
        assertEquals(null, given.put(event, id), this + " is given " + event + " twice");
        if (view == View.SEALED) {
            assertTrue(id.isAfter(last), this + " is given " + id + " after " + last);
            last = id;
        }
        assertTrue(id.isAfter(sealed), this + " is given " + id + " though order was final up to " + sealed);
        cursor = cursorOf(chunk, i);
    }

    /** The cursor that is given with an event. */
    static String cursorOf(Chunk chunk, int i) {
        int start = chunk.jsonStart(i) + "{\"id\":\"EVT00000000000\",\"cursor\":\"".length();
        return new String(chunk.slab(), start, chunk.cursorLength(i), StandardCharsets.US_ASCII);
    }

    @Override
    public void caughtUp(Cursor at) {
        cursor = at.toString();
    }

    @Override
    public void sealed(Position through) {
        ledger.watch(() -> assertTrue(through.compareTo(sealed) >= 0));
        sealed = through;
    }

    @Override
    public void fellBehind(Cursor at) {
        cursor = at.toString();
    }

    @Override
    public void gap(Gap gap, Position earliest) {
        notes.accept(this + " is told of " + gap);
        assertTrue(ledger.gapsExpected() && gap.reason() == Gap.Reason.LOST, () -> this + " is told of " + gap);
        gaps.add(gap);
    }

    @Override
    public void closed(Problem problem, Cursor at) {
        subscription = null;
        notes.accept(this + " is closed: " + problem.getMessage());
    }

    @Override
    public boolean writable() {
        return writable;
    }

    @Override
    public String toString() {
        return "follower " + name + " (" + view + ")";
    }
}
