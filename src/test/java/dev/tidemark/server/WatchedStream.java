package dev.tidemark.server;

import io.vertx.core.json.JsonObject;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;

/** One stream of the crash harness with its writers, subscribers and reader; when its writers rest, it is compared with what they know. */
final class WatchedStream implements AutoCloseable {
    private static final long QUIET_MS_MAX = 60_000;

    private final String name;
    private final boolean finalOnArrival;
    private final Supplier<Api> server;
    private final List<NumberedWriter> writers;
    private final ResumingFollower live;
    private final ResumingFollower sealed;
    private final PageReader reader;

    private List<Seen> before = List.of();
    private String watermark = "";

    /** @param finalOnArrival whether the order is that of the acknowledgements: one stripe, no window */
    WatchedStream(String name, boolean finalOnArrival, Supplier<Api> server, List<NumberedWriter> writers) {
        this.name = name;
        this.finalOnArrival = finalOnArrival;
        this.server = server;
        this.writers = List.copyOf(writers);
        live = new ResumingFollower(name, server);
        sealed = new ResumingFollower(name, server, "&view=sealed");
        reader = new PageReader(name, "sealed", server);
    }

    List<NumberedWriter> writers() {
        return writers;
    }

    long acked() {
        return writers.stream().mapToLong(NumberedWriter::acked).sum();
    }

    /** Compares everything; nobody writes meanwhile. */
    void settle(Ledger ledger) throws InterruptedException {
        JsonObject seam = awaitFinal();
        List<Seen> whole = whole();
        ledger.compare(name, whole, writers, finalOnArrival);
        Map<String, Integer> places = Ledger.places(whole);
        ledger.stretch("what was read of " + name + " before", before, whole, places);
        before = whole;
        reader.settle(ledger, whole, places);
        seam(ledger, seam, whole);
        followed(ledger, "the subscriber of " + name, live, whole, finalOnArrival);
        followed(ledger, "the sealed view's subscriber of " + name, sealed, whole, true);
    }

    private JsonObject awaitFinal() throws InterruptedException {
        long untilNs = System.nanoTime() + QUIET_MS_MAX * 1_000_000;
        while (true) {
            JsonObject seam = server.get().seam(name);
            String tail = Objects.requireNonNullElse(seam.getString("tail"), "");
            String frontier = Objects.requireNonNullElse(seam.getString("frontier"), "");
            if (!tail.isEmpty() && frontier.compareTo(tail) >= 0) {
                return seam;
            }
            if (System.nanoTime() > untilNs) {
                throw new AssertionError("the frontier of " + name + " doesn't reach its tail: " + seam);
            }
            Thread.sleep(20);
        }
    }

    private String wholeText() {
        Api.Answer answer = server.get().ndjson(Api.stream(name) + "/events?view=sealed");
        if (answer.status() != 200) {
            throw new AssertionError("the whole of " + name + ": " + answer.status() + " " + answer.text());
        }
        return answer.text();
    }

    private List<Seen> whole() {
        return Seen.ofLines(wholeText());
    }

    /** trimmed ≤ W ≤ frontier, and W never back. */
    private void seam(Ledger ledger, JsonObject seam, List<Seen> whole) {
        String now = Objects.requireNonNullElse(seam.getString("watermark"), "");
        if (now.compareTo(watermark) < 0) {
            ledger.watermarkBack(name + " from " + watermark + " to " + now);
        }
        watermark = now;
        if (now.compareTo(seam.getString("frontier")) > 0) {
            ledger.other("W above the frontier: " + seam);
        }
        String firstLive = seam.getString("first_live");
        String above = whole.stream()
                .map(Seen::id)
                .filter(id -> id.compareTo(now) > 0)
                .findFirst()
                .orElse("F");
        if (firstLive != null && firstLive.compareTo(above) > 0) {
            ledger.other("trimmed above W: " + seam + ", the next event is " + above);
        }
        if (seam.getInteger("over_retained") < 0) {
            ledger.other("over-retained: " + seam);
        }
    }

    private static void followed(
            Ledger ledger, String what, ResumingFollower follower, List<Seen> whole, boolean inOrder)
            throws InterruptedException {
        long untilNs = System.nanoTime() + QUIET_MS_MAX * 1_000_000;
        while (follower.seen().size() < whole.size() && System.nanoTime() < untilNs) {
            Thread.sleep(20);
        }
        List<Seen> got = follower.seen();
        Set<Seen> once = new HashSet<>();
        Set<Seen> missing = new HashSet<>(whole);
        for (Seen event : got) {
            if (!once.add(event)) {
                ledger.repeated(1, what + " got " + event + " again");
            }
            missing.remove(event);
        }
        ledger.lost(missing.size(), what + " didn't get " + missing.size() + ", among them " + first(missing));
        once.removeAll(new HashSet<>(whole));
        ledger.lost(once.size(), what + " got what isn't in the stream: " + first(once));
        if (inOrder) {
            ledger.rising(what, got);
        }
        follower.unexpected().forEach(told -> ledger.other(what + " was told " + told));
    }

    private static String first(Set<Seen> events) {
        return events.stream().findFirst().map(Seen::toString).orElse("none");
    }

    /** The same bytes as were sent, and everything folded by a request. */
    void settleAtEnd(Ledger ledger) {
        List<String> payloads = server.get().payloads(Api.stream(name) + "/events?view=sealed");
        long wrong = 0;
        for (int i = 0; i < payloads.size(); i++) {
            Seen event = before.get(i);
            byte[] sent = writers.stream()
                    .filter(writer -> writer.number() == event.writer())
                    .findFirst()
                    .orElseThrow()
                    .payload(event.number());
            wrong += Arrays.equals(sent, Follower.utf8(payloads.get(i))) ? 0 : 1;
        }
        ledger.lost(wrong, wrong + " events of " + name + " have other bytes than were sent");
        Api.Answer folded = server.get().fold(name);
        JsonObject seam = server.get().seam(name);
        boolean whole = folded.status() == 200
                && Objects.equals(seam.getString("tail"), seam.getString("watermark"))
                && seam.getLong("archived_events") == before.size();
        if (!whole) {
            ledger.other("after a fold not everything is in the archive: " + folded.text() + ", " + seam + ", "
                    + before.size() + " events");
        }
    }

    @Override
    public void close() throws Exception {
        writers.forEach(NumberedWriter::close);
        reader.close();
        live.close();
        sealed.close();
    }
}
