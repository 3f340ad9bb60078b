package dev.tidemark.client;

import dev.tidemark.client.wire.JsonFields;
import java.io.ByteArrayOutputStream;
import java.net.http.HttpRequest;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A writer to one stream whose appends are stored exactly once and in their order, however often they have to be sent: each carries the
 * producer's id, epoch and a number that rises by one.
 *
 * <p>Any thread; calls are made one after the other, and each waits for its acknowledgement. For more throughput append batches, or use
 * several producers.
 *
 * <p>An append that fails with {@link TidemarkException.Stored#UNKNOWN} leaves the producer <em>in doubt</em>: it may have been stored.
 * Then {@link #resend} settles it, at any time within the 24 hours that the server remembers a producer; {@link #abandon} gives up
 * knowing. Until one of them, appends throw {@link IllegalStateException}. After any other failure nothing was stored, and the producer
 * goes on as before.
 */
public final class Producer {
    private final Http http;
    private final Tries tries;
    private final String stream;
    private final String path;
    private final String id;
    private final ReentrantLock oneAtATime = new ReentrantLock();

    // guarded by oneAtATime
    private long epoch;
    private long seq;
    private byte @Nullable [] open;

    Producer(Http http, Tries tries, String stream, String id, long epoch) {
        this.http = http;
        this.tries = tries;
        this.stream = stream;
        this.path = Http.path(stream, "/events");
        this.id = id;
        this.epoch = epoch;
    }

    /** As {@link #append(List)} of one event. */
    public Appended append(NewEvent event) {
        return append(List.of(event));
    }

    /**
     * Appends events, all or none, next to each other.
     *
     * @param events 1 to 10,000, together at most 16 MiB as they are sent, each at most 1 MiB (the server's defaults)
     * @return when the server has them as safe as its {@code redis.fsync} says
     * @throws TidemarkException if they were refused (then {@code stored} is {@code NO}), or it isn't known within the deadline whether
     *     they were stored ({@code UNKNOWN})
     * @throws IllegalStateException if an earlier append is in doubt
     */
    public Appended append(List<NewEvent> events) {
        if (events.isEmpty()) {
            throw new IllegalArgumentException("nothing to append");
        }
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        events.forEach(event -> event.writeEnvelope(body));
        oneAtATime.lock();
        try {
            if (open != null) {
                throw new IllegalStateException("an earlier append is in doubt: resend() or abandon() it first");
            }
            return send(body.toByteArray());
        } finally {
            oneAtATime.unlock();
        }
    }

    /** Whether it isn't known whether the last append was stored. */
    public boolean inDoubt() {
        oneAtATime.lock();
        try {
            return open != null;
        } finally {
            oneAtATime.unlock();
        }
    }

    /**
     * Sends the append that is in doubt again, under its number.
     *
     * @return its acknowledgement; it is stored once, whether it was stored already or not
     * @throws TidemarkException as {@link #append}; while {@code stored} is {@code UNKNOWN}, it stays in doubt
     * @throws IllegalStateException if none is in doubt
     */
    public Appended resend() {
        oneAtATime.lock();
        try {
            if (open == null) {
                throw new IllegalStateException("no append is in doubt");
            }
            return send(open);
        } finally {
            oneAtATime.unlock();
        }
    }

    /**
     * Leaves it open whether the append in doubt was stored. The producer goes on under a higher epoch: once an append of that was
     * stored, what is still on its way of the one in doubt will be refused.
     *
     * @throws IllegalStateException if none is in doubt
     */
    public void abandon() {
        oneAtATime.lock();
        try {
            if (open == null) {
                throw new IllegalStateException("no append is in doubt");
            }
            open = null;
            epoch++;
            seq = 0;
        } finally {
            oneAtATime.unlock();
        }
    }

    private Appended send(byte[] body) {
        boolean wasOpen = open != null;
        try {
            Appended appended = tries.append(within -> once(body, within));
            open = null;
            seq++;
            return appended;
        } catch (TidemarkException e) {
            if (wasOpen || e.stored() == TidemarkException.Stored.UNKNOWN) {
                open = body;
                throw e.with(TidemarkException.Stored.UNKNOWN, "");
            }
            throw e;
        }
    }

    private Appended once(byte[] body, Duration within) {
        HttpRequest.Builder request = http.request(path)
                .header("Content-Type", "application/vnd.tidemark.events+ndjson")
                .header("Producer-Id", id)
                .header("Producer-Epoch", Long.toString(epoch))
                .header("Producer-Seq", Long.toString(seq))
                .POST(HttpRequest.BodyPublishers.ofByteArray(body));
        byte[] answer = http.call(request, within);
        try {
            return Appended.of(answer);
        } catch (JsonFields.Malformed e) {
            throw TidemarkException.of(
                    TidemarkException.NOT_UNDERSTOOD,
                    "the answer isn't an acknowledgement: " + e.getMessage(),
                    false,
                    e);
        }
    }

    /** The producer's id, as the server knows it. */
    public String id() {
        return id;
    }

    /** Name of the stream. */
    public String stream() {
        return stream;
    }
}
