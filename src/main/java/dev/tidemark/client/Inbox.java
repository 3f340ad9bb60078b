package dev.tidemark.client;

import java.io.IOException;
import java.io.InputStream;
import java.net.SocketTimeoutException;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.BodySubscribers;
import java.net.http.HttpResponse.ResponseInfo;
import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What one answer brings, on its way from the connection to the subscription's thread, which reads it as a stream of bytes. The connection
 * is asked for {@link #AHEAD_MAX} lists of buffers and then for one more whenever one was read, so no more than that wait here: who
 * reads slowly slows the server down.
 *
 * <p>Reading waits as long as it is told to at most; then it is a {@link SocketTimeoutException}.
 */
final class Inbox extends InputStream implements BodyHandler<Void>, Flow.Subscriber<List<ByteBuffer>> {
    /** Lists have some 16 KiB. */
    static final int AHEAD_MAX = 2;

    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    /** What the connection has to say. */
    private sealed interface Signal {
        /** The answer's head. */
        record Head(ResponseInfo info) implements Signal {}

        /** More of its body. */
        record Bytes(List<ByteBuffer> buffers) implements Signal {}

        /** Nothing more comes: the answer has ended, was given up, or broke. */
        record End(@Nullable Throwable failure) implements Signal {}
    }

    private final BlockingQueue<Signal> signals = new LinkedBlockingQueue<>();
    private final long headMsMax;
    private final long silenceMsMax;

    // written by the connection's thread and by who stops it, read by all
    private volatile Flow.@Nullable Subscription connection;
    private volatile boolean stopped;

    // used by the reading thread only
    private Iterator<ByteBuffer> buffers = Collections.emptyIterator();
    private ByteBuffer buffer = NOTHING;
    private boolean owed;
    private Signal.@Nullable End end;

    /**
     * @param headMsMax how long the head is waited for, from when it is asked for on
     * @param silenceMsMax how long the next bytes are waited for
     */
    Inbox(long headMsMax, long silenceMsMax) {
        this.headMsMax = headMsMax;
        this.silenceMsMax = silenceMsMax;
    }

    /** Gives the answer up: its connection is closed, and who reads is at the end. Any thread. */
    void stop() {
        stopped = true;
        Flow.Subscription open = connection;
        if (open != null) {
            open.cancel();
        }
        signals.add(new Signal.End(null));
    }

    // ---- the connection's side

    @Override
    public BodySubscriber<Void> apply(ResponseInfo info) {
        signals.add(new Signal.Head(info));
        return BodySubscribers.fromSubscriber(this);
    }

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
        connection = subscription;
        if (stopped) {
            subscription.cancel();
        } else {
            subscription.request(AHEAD_MAX);
        }
    }

    @Override
    public void onNext(List<ByteBuffer> item) {
        signals.add(new Signal.Bytes(item));
    }

    /** The answer broke, or there will be none. */
    @Override
    public void onError(Throwable failure) {
        signals.add(new Signal.End(failure));
    }

    @Override
    public void onComplete() {
        signals.add(new Signal.End(null));
    }

    // ---- the reading thread's side

    /** The answer's head, before anything is read; null if it was stopped. */
    @Nullable
    ResponseInfo head() throws IOException {
        Signal signal = take(headMsMax);
        if (signal instanceof Signal.Head head) {
            return head.info();
        }
        boolean unused = ended(signal);
        return null;
    }

    @Override
    public int read() throws IOException {
        return more() ? buffer.get() & 0xff : -1;
    }

    @Override
    public int read(byte[] into, int from, int length) throws IOException {
        Objects.checkFromIndexSize(from, length, into.length);
        if (length == 0) {
            return 0;
        }
        if (!more()) {
            return -1;
        }
        int count = Math.min(length, buffer.remaining());
        buffer.get(into, from, count);
        return count;
    }

    @Override
    public void close() {
        stop();
    }

    /** Whether there is a byte to read. Waits for it. */
    private boolean more() throws IOException {
        while (!buffer.hasRemaining()) {
            if (buffers.hasNext()) {
                buffer = buffers.next();
                continue;
            }
            Flow.Subscription open = connection;
            if (owed && open != null) {
                owed = false;
                open.request(1);
            }
            Signal signal = end == null ? take(silenceMsMax) : end;
            if (signal instanceof Signal.Bytes bytes) {
                buffers = bytes.buffers().iterator();
                owed = true;
            } else if (ended(signal)) {
                return false;
            }
        }
        return !stopped;
    }

    private Signal take(long waitMs) throws IOException {
        try {
            Signal signal = signals.poll(waitMs, TimeUnit.MILLISECONDS);
            if (signal == null) {
                throw new SocketTimeoutException("nothing came for " + waitMs / 1_000 + " s");
            }
            return signal;
        } catch (InterruptedException e) {
            throw Http.interrupted(e);
        }
    }

    /** Whether this is the end; throws if it is a bad one. */
    private boolean ended(Signal signal) throws IOException {
        if (!(signal instanceof Signal.End last)) {
            return false;
        }
        end = last;
        Throwable failure = last.failure();
        if (failure == null || stopped) {
            return true;
        }
        throw failure instanceof IOException e ? e : new IOException(failure.toString(), failure);
    }
}
