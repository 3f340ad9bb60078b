package dev.tidemark.cli;

import dev.tidemark.client.wire.Backoff;
import dev.tidemark.client.wire.JsonFields;
import dev.tidemark.client.wire.LineReader;
import dev.tidemark.event.Clock;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Sends the lines of an input, batch after batch, each only after the one before was acknowledged. A run is a producer of its own and
 * its batches are numbered: so what got no answer is sent again, for a bounded time, and still stored once. If it isn't known even
 * then whether a batch was stored, the run stops and says which lines are in question.
 *
 * <p>One thread; {@link #report} may be asked by another.
 */
final class AppendRun {
    static final int BATCH_LINES_MAX = 1_000;
    static final int BATCH_BYTES_MAX = 1 << 20;
    private static final String LIMIT_LINES = "limits.batch_events";
    private static final String LIMIT_BYTES = "limits.body_bytes";
    private static final long PROGRESS_EVERY_NS = 200_000_000;

    /**
     * How long a batch is tried.
     *
     * @param answerMs for the answer of one try, milliseconds; far less than {@code retryForMs}, so that an answer that is lost without
     *     a sign doesn't use up all tries
     * @param retryForMs no further try is begun after it, milliseconds from the first one
     */
    record Patience(long answerMs, long retryForMs) {}

    /** Everything a run needs from outside. */
    record Setup(Api api, Terminal terminal, Clock clock, String stream, String contentType, Patience patience) {}

    /** What is known to be stored; published as a whole. */
    private record Stored(long events, long throughLine, String firstId, String lastId) {}

    private final Setup setup;
    private final Backoff backoff = new Backoff(100, 2_000, new SplittableRandom());
    private int batchLinesMax = BATCH_LINES_MAX;
    private long batchBytesMax = BATCH_BYTES_MAX;
    private long progressShownNs;
    private final String producerId = "tidemark-append-" + UUID.randomUUID();
    /** Number of the next batch; one that was refused leaves it to the next try. */
    private long seq;

    // written by the running thread, read by any
    private volatile Stored stored = new Stored(0, 0, "", "");
    private volatile @Nullable Batch underWay;

    AppendRun(Setup setup) {
        this.setup = setup;
        this.progressShownNs = setup.clock().monotonicNs();
    }

    /**
     * Sends all lines.
     *
     * @throws CommandFailure naming the lines that are stored and those that may be
     * @throws IOException if the input can't be read; {@link #report} says what was sent before
     */
    void send(LineReader input, long inputBytes) throws IOException {
        List<Batch.Line> lines = new ArrayList<>();
        long bytes = 0;
        for (byte[] line = input.next(); line != null; line = input.next()) {
            if (!isBlank(line)) {
                if (!lines.isEmpty() && bytes + line.length + 1 > batchBytesMax) {
                    sendAll(new Batch(lines));
                    lines.clear();
                    bytes = 0;
                }
                lines.add(new Batch.Line(input.number(), line));
                bytes += line.length + 1;
            }
            if (!lines.isEmpty() && (lines.size() >= batchLinesMax || !input.ready())) {
                sendAll(new Batch(lines));
                lines.clear();
                bytes = 0;
            }
            showProgress(input.bytesRead(), inputBytes);
        }
        if (!lines.isEmpty()) {
            sendAll(new Batch(lines));
        }
    }

    /** As the server sees it: nothing but the white space of JSON. */
    static boolean isBlank(byte[] line) {
        for (byte b : line) {
            if (b != ' ' && b != '\t' && b != '\r') {
                return false;
            }
        }
        return true;
    }

    private void sendAll(Batch batch) {
        Deque<Batch> open = new ArrayDeque<>(batch.split(batchLinesMax, batchBytesMax));
        while (!open.isEmpty()) {
            Batch next = open.removeFirst();
            Refusal refusal = sendUntilAnswered(next, next.body());
            if (refusal == null) {
                continue;
            }
            if (!learnLimit(refusal) || next.lines().size() == 1) {
                throw refused(refusal, next);
            }
            List<Batch> parts = next.split(batchLinesMax, batchBytesMax);
            if (parts.size() == 1) {
                throw refused(refusal, next);
            }
            for (int i = parts.size() - 1; i >= 0; i--) {
                open.addFirst(parts.get(i));
            }
        }
    }

    private boolean learnLimit(Refusal refusal) {
        long lines = refusal.maxOf(LIMIT_LINES);
        long bytes = refusal.maxOf(LIMIT_BYTES);
        batchLinesMax = lines > 0 ? (int) Math.min(batchLinesMax, lines) : batchLinesMax;
        batchBytesMax = bytes > 0 ? Math.min(batchBytesMax, bytes) : batchBytesMax;
        return lines > 0 || bytes > 0;
    }

    /**
     * Sends bytes that don't come from lines: one event.
     *
     * @throws CommandFailure if it wasn't stored, or may not have been
     */
    void sendWhole(byte[] body) {
        Batch batch = new Batch(List.of(new Batch.Line(1, body)));
        Refusal refusal = sendUntilAnswered(batch, body);
        if (refusal != null) {
            throw refused(refusal, batch);
        }
    }

    /** Null when stored; a refusal for good otherwise. */
    private @Nullable Refusal sendUntilAnswered(Batch batch, byte[] body) {
        long deadlineNs = setup.clock().monotonicNs() + setup.patience().retryForMs() * 1_000_000;
        backoff.reset();
        underWay = batch;
        boolean unknown = false;
        while (true) {
            CommandFailure reason;
            try {
                HttpResponse<byte[]> answer = post(body);
                if (answer.statusCode() / 100 == 2) {
                    seq++;
                    acknowledge(batch, answer.body());
                    return null;
                }
                Refusal refusal = Refusal.of(answer.statusCode(), answer.body());
                unknown |= refusal.outcomeUnknown();
                if (!refusal.canBeRepeated()) {
                    underWay = unknown ? batch : null;
                    return refusal;
                }
                reason = CommandFailure.refused(refusal.text(batch::numberOf));
            } catch (Api.NotConnected e) {
                reason = setup.api().notReachable(e);
                if (stored.events() == 0 && !unknown) {
                    underWay = null;
                    throw reason;
                }
            } catch (IOException e) {
                unknown = true;
                reason = CommandFailure.notReachable(setup.api().lost(e));
            }
            if (setup.clock().monotonicNs() > deadlineNs) {
                underWay = unknown ? batch : null;
                String tried = "gave up after " + setup.patience().retryForMs() / 1_000 + "s: ";
                throw new CommandFailure(reason.exitCode(), tried + reason.message() + ". " + report());
            }
            pause(backoff.nextMs());
        }
    }

    private HttpResponse<byte[]> post(byte[] body) throws IOException {
        Duration within = Duration.ofMillis(setup.patience().answerMs());
        return setup.api().append(setup.stream(), setup.contentType(), producerId, seq, body, within);
    }

    private static void pause(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw CommandFailure.refused("interrupted");
        }
    }

    private void acknowledge(Batch batch, byte[] answer) {
        JsonFields fields;
        try {
            fields = JsonFields.of(answer);
        } catch (JsonFields.Malformed e) {
            throw CommandFailure.refused(
                    "the server's answer isn't an acknowledgement: " + e.getMessage() + ". " + report());
        }
        Stored before = stored;
        String firstId = before.firstId().isEmpty() ? fields.text("first", "?") : before.firstId();
        long events = before.events() + fields.number("count", batch.lines().size());
        stored = new Stored(events, batch.last(), firstId, fields.text("last", "?"));
        underWay = null;
    }

    private CommandFailure refused(Refusal refusal, Batch batch) {
        return CommandFailure.refused(refusal.text(batch::numberOf) + ". " + report());
    }

    /** What is stored for certain, and what may be. */
    String report() {
        Stored known = stored;
        Batch open = underWay;
        String sure = "Stored: " + known.events() + " events, up to line " + known.throughLine() + ", last id "
                + known.lastId();
        if (open == null) {
            return known.events() == 0 ? "Nothing was stored" : sure + "; nothing after that";
        }
        String lines =
                open.first() == open.last() ? "line " + open.first() : "lines " + open.first() + " to " + open.last();
        return (known.events() == 0 ? "" : sure + ". ") + "Unknown: " + lines + ", all or none; nothing after that";
    }

    /** For the end of a run that worked. */
    String summary() {
        Stored known = stored;
        return known.events() == 0
                ? "0 events"
                : known.events() + (known.events() == 1 ? " event" : " events") + ", first " + known.firstId()
                        + ", last " + known.lastId();
    }

    private void showProgress(long bytesRead, long inputBytes) {
        long nowNs = setup.clock().monotonicNs();
        if (nowNs - progressShownNs < PROGRESS_EVERY_NS) {
            return;
        }
        progressShownNs = nowNs;
        String part = inputBytes > 0 ? ", " + Math.min(100, bytesRead * 100 / inputBytes) + "%" : "";
        setup.terminal().progress(stored.events() + " events" + part);
    }
}
