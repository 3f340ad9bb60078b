package dev.tidemark.server;

import io.vertx.core.json.JsonObject;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;

/**
 * A writer without retries of its own: a request that was certainly not stored is sent again; one whose outcome is open isn't: its
 * numbers may be there, all or none.
 */
final class Writer extends NumberedWriter {
    private final String stream;
    private final Supplier<Api> server;
    private final int claimedAgoMsMax;

    /**
     * @param number of this writer, from 0, in its events
     * @param server asked for before each request: the port may change
     * @param batchMax greatest number of events in a request
     * @param pauseMs between two requests
     */
    Writer(int number, String stream, Supplier<Api> server, long seed, int batchMax, long pauseMs) {
        this(number, stream, server, seed, batchMax, pauseMs, 0);
    }

    /** @param claimedAgoMsMax above 0: its events claim random times in no order, up to so long ago */
    Writer(
            int number,
            String stream,
            Supplier<Api> server,
            long seed,
            int batchMax,
            long pauseMs,
            int claimedAgoMsMax) {
        super(number, seed, batchMax, pauseMs);
        this.stream = stream;
        this.server = server;
        this.claimedAgoMsMax = claimedAgoMsMax;
    }

    @Override
    void send(long from, int count) throws InterruptedException {
        List<String> lines = new ArrayList<>();
        for (long n = from; n < from + count; n++) {
            lines.add(claimedAgoMsMax > 0 ? envelope(line(n)) : line(n));
        }
        Api.Answer answer = null;
        try {
            answer = append(lines);
        } catch (UncheckedIOException e) {
            if (e.getCause() instanceof ConnectException) {
                Thread.sleep(20);
                return;
            }
        }
        if (answer == null) {
            open(from, count);
        } else if (answer.status() == 201) {
            acked(from, count, answer.json());
        } else if (answer.status() == 503) {
            refused(from, count, answer.json());
        } else {
            throw new AssertionError(answer.status() + " " + answer.text());
        }
    }

    private Api.Answer append(List<String> lines) {
        if (claimedAgoMsMax == 0) {
            return server.get().append(stream, lines);
        }
        byte[] body = String.join("\n", lines).getBytes(StandardCharsets.UTF_8);
        return server.get().append(stream, "application/vnd.tidemark.events+ndjson", body);
    }

    private String envelope(String line) {
        long claimed = System.currentTimeMillis() - random().nextInt(claimedAgoMsMax);
        return "{\"time\":" + claimed + ",\"data\":" + line + "}";
    }

    private void acked(long from, int count, JsonObject answer) {
        if (answer.getInteger("count") != count) {
            throw new AssertionError(count + " sent, but " + answer);
        }
        String first = Objects.requireNonNull(answer.getString("first"));
        acked(from, count, first, Objects.requireNonNull(answer.getString("last")));
    }

    private void refused(long from, int count, JsonObject problem) throws InterruptedException {
        if (!Boolean.TRUE.equals(problem.getBoolean("retryable"))) {
            throw new AssertionError("503 that isn't retryable: " + problem);
        }
        switch (String.valueOf(problem.getString("stored"))) {
            case "no" -> Thread.sleep(20);
            case "unknown" -> open(from, count);
            default -> throw new AssertionError("503 that doesn't say whether it was stored: " + problem);
        }
    }

    /**
     * That a whole read has every acknowledged event exactly once, in the order it was sent, under the ids that the answer named; and of
     * requests with an open outcome all events or none.
     */
    static void assertKept(List<Seen> whole, List<? extends NumberedWriter> writers) {
        Ledger ledger = new Ledger();
        ledger.compare("the whole stream", whole, writers, true);
        ledger.assertClean();
    }
}
