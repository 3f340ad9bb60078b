package dev.tidemark.fold;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.Chunk;
import dev.tidemark.event.Gap;
import dev.tidemark.event.Position;
import dev.tidemark.event.Slice;
import dev.tidemark.keeper.LiveStream;
import dev.tidemark.keeper.StreamSnapshot;
import dev.tidemark.read.ReadPage;
import dev.tidemark.read.ReadRequest;
import dev.tidemark.read.Reads;
import dev.tidemark.read.TailAnswer;
import dev.tidemark.read.View;
import io.vertx.core.Future;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Tails, range reads and pollers of a simulation, each answer checked against the {@link Ledger}. While something is disturbed an answer
 * may fail, or say that it isn't complete; what it gives must be right all the same.
 */
final class SimulatedReaders {
    private final Random random;
    private final Ledger ledger;
    private final SimulatedLoop loop;
    private final List<Poller> pollers = List.of(new Poller(View.LIVE), new Poller(View.LIVE), new Poller(View.SEALED));
    private LiveStream stream;
    private Reads reads;
    private boolean disturbed;

    SimulatedReaders(Random random, Ledger ledger, SimulatedLoop loop, LiveStream stream, Reads reads) {
        this.random = random;
        this.ledger = ledger;
        this.loop = loop;
        this.stream = stream;
        this.reads = reads;
    }

    void restarted(LiveStream newStream, Reads newReads) {
        stream = newStream;
        reads = newReads;
    }

    /** Whether answers may fail or be incomplete from now on. */
    void disturbed(boolean now) {
        disturbed = now;
    }

    /** Null if it failed, or isn't there yet. */
    private <T> @Nullable T attempt(Future<T> future) {
        loop.drain();
        if (future.succeeded()) {
            return future.result();
        }
        assertTrue(disturbed, () -> "not answered: " + future);
        return null;
    }

    // ---- tails

    void tail() {
        StreamSnapshot snapshot = stream.snapshot();
        if (!snapshot.isOpen()) {
            return;
        }
        int n = random.nextInt(4) == 0 ? 10_000 : random.nextInt(30);
        View view = random.nextBoolean() ? View.LIVE : View.SEALED;
        List<String> expected = ledger.inIdOrder(view == View.SEALED ? snapshot.frontier() : Position.MAX);
        TailAnswer tail = attempt(reads.tail(stream.name(), n, view, Long.MAX_VALUE));
        if (tail == null) {
            return;
        }
        List<String> given = names(tail.events());
        List<String> known = ledger.certain(given);
        assertTrue(
                tail.complete() || disturbed || ledger.gapsExpected(),
                () -> "tail " + n + " " + view + " isn't complete: " + given);
        if (tail.complete() || ledger.lost().isEmpty()) {
            assertEquals(newest(expected, known.size()), known, "tail " + n + " " + view);
        }
        if (tail.complete()) {
            assertTrue(given.size() == n || known.size() == expected.size(), "tail " + n + " gave " + given.size());
        }
        checkMarks(tail.events(), snapshot.frontier());
        if (view == View.LIVE && n > 0 && tail.complete()) {
            resume(tail.cursor().toString(), given);
        }
    }

    private static List<String> newest(List<String> all, int n) {
        return all.subList(Math.max(0, all.size() - n), all.size());
    }

    private static void checkMarks(List<Slice> events, Position frontier) {
        for (Slice slice : events) {
            for (int i = slice.from(); i < slice.to(); i++) {
                Chunk chunk = slice.chunk();
                String json = new String(chunk.slab(), chunk.jsonStart(i), chunk.jsonLength(i), StandardCharsets.UTF_8);
                boolean above = chunk.position(i).isAfter(frontier);
                assertEquals(above, json.contains("\"provisional\":true"), json + " at frontier " + frontier);
            }
        }
    }

    /** A reader that has the whole tail has nothing more to get. */
    private void resume(String cursor, List<String> given) {
        Result rest = readAll(cursor, View.LIVE, false, 1_000);
        if (rest != null) {
            assertEquals(List.of(), ledger.certain(rest.names()), "after the tail " + given);
        }
    }

    // ---- ranges

    /** What a read from one end to the other gave. */
    record Result(List<String> names, List<Gap> gaps) {}

    void range() {
        StreamSnapshot snapshot = stream.snapshot();
        if (!snapshot.isOpen()) {
            return;
        }
        boolean descending = random.nextBoolean();
        View view = random.nextBoolean() ? View.LIVE : View.SEALED;
        Position end = view == View.SEALED ? snapshot.frontier() : Position.MAX;
        List<String> expected = ledger.inIdOrder(end);
        int settled = ledger.inIdOrder(snapshot.frontier()).size();
        int limit = 1 + random.nextInt(40);
        Result result = readAll(null, view, descending, limit);
        if (result == null) {
            return;
        }
        List<String> known = ledger.certain(result.names());
        if (descending) {
            Collections.reverse(known);
        } else if (view == View.LIVE) {
            assertEquals(
                    expected.subList(0, settled),
                    known.subList(0, Math.min(known.size(), settled)),
                    "final part, limit " + limit);
            known.sort(Comparator.comparing(ledger::idOf));
        }
        assertEquals(expected, known, "read " + view + " descending " + descending + " limit " + limit);
    }

    /** Reads to the end, each page by a request of its own; null if that isn't possible now. */
    @Nullable
    Result readAll(@Nullable String start, View view, boolean descending, int limit) {
        Result result = new Result(new ArrayList<>(), new ArrayList<>());
        String position = start;
        while (true) {
            ReadRequest request = new ReadRequest(
                    descending ? null : position,
                    descending ? position : null,
                    null,
                    null,
                    limit,
                    descending,
                    view,
                    true);
            ReadPage last = readOne(request, result);
            if (last == null || last.bounded()) {
                return last == null ? null : result;
            }
            String next = last.cursor().toString();
            if (next.equals(position)) {
                assertTrue(disturbed, "a read goes on where it was");
                return null;
            }
            position = next;
        }
    }

    private @Nullable ReadPage readOne(ReadRequest request, Result result) {
        Reads.Scan scan = attempt(reads.scan(stream.name(), request));
        while (scan != null) {
            ReadPage page = attempt(scan.next(1 + random.nextInt(20), 1 << 20));
            if (page == null) {
                return null;
            }
            List<String> given = names(page.events());
            if (request.descending()) {
                Collections.reverse(given);
            }
            result.names().addAll(given);
            result.gaps().addAll(page.gaps());
            assertTrue(
                    ledger.gapsExpected() || page.gaps().isEmpty(),
                    () -> page.gaps().toString());
            if (page.end()) {
                return page;
            }
        }
        return null;
    }

    static List<String> names(List<Slice> slices) {
        List<String> names = new ArrayList<>();
        for (Slice slice : slices) {
            for (int i = slice.from(); i < slice.to(); i++) {
                names.add(new String(slice.chunk().payload(i), StandardCharsets.UTF_8));
            }
        }
        return names;
    }

    // ---- pollers

    void poll() {
        pollers.get(random.nextInt(pollers.size())).poll(1 + random.nextInt(3));
    }

    /** At the end all pollers get what they haven't got. */
    void settle() {
        for (Poller poller : pollers) {
            while (poller.poll(1 + random.nextInt(5))) {
                loop.drain();
            }
            ledger.assertAnnounced(poller.given, poller.gaps, "a poller of " + poller.view);
        }
    }

    /** A reader that comes back with the cursor of its last page, or of its last event, and asks for a few more. */
    private final class Poller {
        private final View view;
        private final Set<String> given = new HashSet<>();
        private final List<Gap> gaps = new ArrayList<>();
        private @Nullable String cursor;

        Poller(View view) {
            this.view = view;
        }

        /** Whether there was something. */
        boolean poll(int limit) {
            if (!stream.snapshot().isOpen()) {
                return false;
            }
            ReadRequest request = new ReadRequest(cursor, null, null, null, limit, false, view, true);
            Reads.Scan scan = attempt(reads.scan(stream.name(), request));
            int count = 0;
            while (scan != null) {
                ReadPage page = attempt(scan.next());
                if (page == null) {
                    return false;
                }
                for (Slice slice : page.events()) {
                    count += take(slice);
                }
                gaps.addAll(page.gaps());
                if (page.end()) {
                    assertTrue(
                            disturbed
                                    || count > 0
                                    || page.bounded()
                                    || !page.gaps().isEmpty(),
                            "nothing, but not the end");
                    if (count == 0 || random.nextBoolean()) {
                        cursor = page.cursor().toString();
                    }
                    return !page.bounded();
                }
            }
            return false;
        }

        private int take(Slice slice) {
            for (int i = slice.from(); i < slice.to(); i++) {
                String name = new String(slice.chunk().payload(i), StandardCharsets.UTF_8);
                assertTrue(given.add(name), "a poller of " + view + " is given " + name + " twice");
                cursor = SimulatedFollower.cursorOf(slice.chunk(), i);
            }
            return slice.to() - slice.from();
        }
    }
}
