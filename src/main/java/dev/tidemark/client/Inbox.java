package dev.tidemark.client;

import java.io.IOException;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What one WebSocket brings, on its way to the subscription's thread. The socket is asked for {@link #AHEAD_MAX} messages and then for
 * one more whenever one was handled, so no more than that wait here; a few are fetched ahead so that pings are seen while a
 * subscriber takes its time.
 */
final class Inbox implements WebSocket.Listener {
    /** Messages have some 32 KiB, or one event. */
    static final int AHEAD_MAX = 16;

    private static final long FIRST_PING_AFTER_MS = 200;
    private static final int MESSAGE_CHARS_MAX = 256 << 20;

    /** What the socket has to say. */
    sealed interface Signal {
        /** A whole message. */
        record Message(WebSocket socket, String json) implements Signal {}

        /** The server closed. */
        record Closed(int code, String reason) implements Signal {}

        /** It broke, or couldn't be made. */
        record Failed(Throwable cause) implements Signal {}

        /** The subscription was closed on this side. */
        record Stopped() implements Signal {}
    }

    private final BlockingQueue<Signal> signals = new LinkedBlockingQueue<>();

    // used by the socket's threads only, one call at a time
    private final StringBuilder message = new StringBuilder();

    /**
     * The next signal, or null if there is none for so long.
     *
     * <p>The JDK's WebSocket (17 to 25) sometimes doesn't tell the end of a connection that comes right behind data. So while there is
     * silence the socket is pinged, soon and then ever more seldom: a ping to a closed connection fails.
     */
    @Nullable
    Signal take(long waitMs, CompletableFuture<WebSocket> socket) throws InterruptedException {
        long left = waitMs;
        for (long pause = FIRST_PING_AFTER_MS; left > 0; pause *= 2) {
            long wait = Math.min(left, pause);
            Signal signal = signals.poll(wait, TimeUnit.MILLISECONDS);
            if (signal != null) {
                return signal;
            }
            left -= wait;
            ping(socket);
        }
        return null;
    }

    private void ping(CompletableFuture<WebSocket> socket) {
        WebSocket open = socket.isCompletedExceptionally() ? null : socket.getNow(null);
        if (open != null) {
            var unused = open.sendPing(ByteBuffer.allocate(0)).whenComplete((sent, failure) -> {
                Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
                if (cause instanceof IOException) {
                    fail(cause);
                }
            });
        }
    }

    void fail(Throwable cause) {
        signals.add(new Signal.Failed(cause));
    }

    /** Any thread. */
    void stop() {
        signals.add(new Signal.Stopped());
    }

    @Override
    public void onOpen(WebSocket socket) {
        socket.request(AHEAD_MAX);
    }

    @Override
    public @Nullable CompletionStage<?> onText(WebSocket socket, CharSequence data, boolean last) {
        message.append(data);
        if (last) {
            signals.add(new Signal.Message(socket, message.toString()));
            message.setLength(0);
        } else if (message.length() > MESSAGE_CHARS_MAX) {
            fail(new IllegalStateException("a message above " + MESSAGE_CHARS_MAX + " characters"));
            socket.abort();
        } else {
            socket.request(1);
        }
        return null;
    }

    @Override
    public @Nullable CompletionStage<?> onClose(WebSocket socket, int code, String reason) {
        signals.add(new Signal.Closed(code, reason));
        return null;
    }

    @Override
    public void onError(WebSocket socket, Throwable error) {
        fail(error);
    }
}
