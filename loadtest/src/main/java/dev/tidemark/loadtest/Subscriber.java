package dev.tidemark.loadtest;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/** A live subscriber over the JDK's WebSocket client: notes how old each event is when it arrives. */
public final class Subscriber implements WebSocket.Listener, AutoCloseable {
    private static final long WAIT_SECONDS_MAX = 15;
    private static final long LATENCY_NS_MAX = TimeUnit.SECONDS.toNanos(60);

    private final CountDownLatch hello = new CountDownLatch(1);
    private final long countsFrom;
    private final WebSocket socket;

    // Written by the client's thread only, one call after the other.
    private final Histogram latencies = OpenLoop.histogram();
    private final StringBuilder message = new StringBuilder();
    private volatile long received;
    private volatile @Nullable String failure;

    /** @param countsFrom events sent before this ({@link System#nanoTime}) aren't counted in the latencies */
    public Subscriber(int port, String stream, long countsFrom) throws IOException, InterruptedException {
        this.countsFrom = countsFrom;
        URI uri = URI.create("ws://127.0.0.1:" + port + "/v1/streams/" + stream + "/subscribe?after=latest");
        this.socket = HttpClient.newHttpClient()
                .newWebSocketBuilder()
                .buildAsync(uri, this)
                .join();
        if (!hello.await(WAIT_SECONDS_MAX, TimeUnit.SECONDS)) {
            throw new IOException("no hello from the server");
        }
    }

    @Override
    public @Nullable CompletionStage<?> onText(WebSocket webSocket, CharSequence data, boolean last) {
        message.append(data);
        if (last) {
            receive(System.nanoTime());
            message.setLength(0);
        }
        webSocket.request(1);
        return null;
    }

    private void receive(long now) {
        if (message.indexOf("\"type\":\"hello\"") >= 0) {
            hello.countDown();
        }
        long sent = Payloads.number(message);
        if (sent < 0) {
            return;
        }
        countOne();
        if (sent - countsFrom >= 0) {
            latencies.recordValue(Math.min(Math.max(0, now - sent), LATENCY_NS_MAX));
        }
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // one writer
    private void countOne() {
        received++;
    }

    @Override
    public @Nullable CompletionStage<?> onClose(WebSocket webSocket, int statusCode, String reason) {
        failure = "closed with " + statusCode + " " + reason;
        return null;
    }

    @Override
    public void onError(WebSocket webSocket, Throwable error) {
        failure = String.valueOf(error);
    }

    /** Waits until that many events have come, and gives their latencies in nanoseconds. */
    public Histogram awaitAll(long events) throws IOException, InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_SECONDS_MAX);
        while (received < events && failure == null && System.nanoTime() - end < 0) {
            Thread.sleep(10);
        }
        if (failure != null || received != events) {
            throw new IOException("the subscriber got " + received + " of " + events + " events; "
                    + (failure == null ? "no failure" : failure));
        }
        return latencies;
    }

    @Override
    public void close() {
        socket.abort();
    }
}
