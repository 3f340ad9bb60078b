package dev.tidemark.loadtest.driver;

import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Subscribers over WebSocket on loopback. One thread reads what comes for all of them and counts messages; it looks at as few bytes
 * as it can, so that the servers are measured and not it. Its figures may be asked for by another thread.
 */
public final class Subscribers implements AutoCloseable {
    private static final int READ_BYTES = 256 << 10;
    private static final long SELECT_MS_MAX = 100;
    private static final long WAIT_SECONDS_MAX = 20;

    /**
     * What a subscriber says and hears.
     *
     * @param path of the upgrade
     * @param first a text to be sent after the upgrade; empty for none
     * @param message each message has it once
     * @param hop so many bytes after it hold no other message
     * @param greeting with it the server says that the subscription is there
     */
    public record Talk(String path, String first, String message, int hop, String greeting) {}

    private static final class Connection {
        private final SocketChannel channel;
        private final WebSocketMessages in;
        private long received;

        Connection(SocketChannel channel, WebSocketMessages in) {
            this.channel = channel;
            this.in = in;
        }

        /** Reads once and tells how many messages came. */
        int read(ByteBuffer buffer) throws IOException {
            if (channel.read(buffer.clear()) < 0) {
                throw new EOFException("the server cut a subscriber off");
            }
            return in.completed(buffer.flip());
        }
    }

    private final List<Connection> connections = new ArrayList<>();
    private final Selector selector;
    private final ByteBuffer read = ByteBuffer.allocateDirect(READ_BYTES);
    private final Thread reader = new Thread(this::readAll, "subscribers");

    // Written by the reader, and before it by who connects.
    private volatile long total;
    private volatile long slowest;
    private volatile int greeted;
    private volatile @Nullable IOException failure;

    private volatile boolean closing;

    private Subscribers(Selector selector) {
        this.selector = selector;
    }

    /** Connects them and waits until all subscriptions are there. */
    public static Subscribers open(int port, int count, Talk talk) throws IOException, InterruptedException {
        Subscribers subscribers = new Subscribers(Selector.open());
        try {
            for (int i = 0; i < count; i++) {
                subscribers.connect(port, talk);
            }
            subscribers.reader.start();
            subscribers.await(() -> subscribers.greeted == count, "subscribe");
            return subscribers;
        } catch (IOException | InterruptedException e) {
            subscribers.close();
            throw e;
        }
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // the reader doesn't run yet
    private void connect(int port, Talk talk) throws IOException {
        SocketChannel channel = SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        Connection connection =
                new Connection(channel, new WebSocketMessages(talk.message(), talk.hop(), talk.greeting()));
        connections.add(connection);
        write(channel, ByteBuffer.wrap(WebSocketRequests.upgrade(talk.path(), port)));
        while (!connection.in.isUpgraded()) {
            connection.received += connection.read(read);
        }
        if (!talk.first().isEmpty()) {
            write(channel, ByteBuffer.wrap(WebSocketRequests.text(talk.first())));
        }
        greeted += connection.in.isGreeted() ? 1 : 0;
        SelectableChannel unused = channel.configureBlocking(false);
        SelectionKey unusedToo = channel.register(selector, SelectionKey.OP_READ, connection);
    }

    private static void write(SocketChannel channel, ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            int unused = channel.write(bytes);
        }
    }

    private void readAll() {
        try {
            while (!closing) {
                int unused = selector.select(this::ready, SELECT_MS_MAX);
                long all = 0;
                long least = Long.MAX_VALUE;
                for (Connection connection : connections) {
                    all += connection.received;
                    least = Math.min(least, connection.received);
                }
                total = all;
                slowest = least;
            }
        } catch (IOException e) {
            failure = e;
        } catch (UncheckedIOException e) {
            failure = new IOException(e.getMessage(), e);
        }
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // one writer
    private void ready(SelectionKey key) {
        Connection connection = (Connection) key.attachment();
        try {
            boolean wasGreeted = connection.in.isGreeted();
            connection.received += connection.read(read);
            if (!wasGreeted && connection.in.isGreeted()) {
                greeted++;
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Messages that have come to all of them together. */
    public long total() {
        return total;
    }

    /** Waits until every one of them has got so many messages. */
    public void awaitEach(long messages) throws IOException, InterruptedException {
        await(() -> slowest >= messages, "get " + messages + " messages each");
    }

    private interface Condition {
        boolean holds();
    }

    private void await(Condition condition, String what) throws IOException, InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_SECONDS_MAX);
        while (!condition.holds()) {
            IOException failed = failure;
            if (failed != null) {
                throw failed;
            }
            if (System.nanoTime() - end > 0) {
                throw new IOException("the subscribers didn't " + what + "; " + greeted + " of " + connections.size()
                        + " are there, the slowest has " + slowest);
            }
            TimeUnit.MICROSECONDS.sleep(100);
        }
    }

    @Override
    public void close() throws IOException {
        closing = true;
        Selector unused = selector.wakeup();
        try {
            reader.join(TimeUnit.SECONDS.toMillis(WAIT_SECONDS_MAX));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        for (Connection connection : connections) {
            connection.channel.close();
        }
        selector.close();
    }
}
