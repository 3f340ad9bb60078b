package dev.tidemark.loadtest.driver;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * Sends requests by the clock over some connections, whatever the answers do: an open loop for what is timed where it arrives. One
 * thread and one selector, so that it costs little beside what is measured; a thread a connection would take a third of two cores at
 * 5,000 requests a second.
 *
 * <p>A request for which no connection was free when it was due counts from then (no coordinated omission); one that the timer only
 * woke late for counts from when it was sent, since that lateness is the driver's own.
 */
public final class Pacer implements AutoCloseable {
    private static final long LAST_ANSWERS_NS_MAX = TimeUnit.SECONDS.toNanos(15);
    private static final int READ_BYTES = 64 << 10;

    /** Writes into a request when it counts as sent. */
    public interface Stamp {
        /**
         * Changes the request in place.
         *
         * @param bytes the whole request; its position may not be moved
         * @param startNs {@link System#nanoTime}
         */
        void in(ByteBuffer bytes, long startNs);
    }

    private final Selector selector;
    private final List<Connection> connections = new ArrayList<>();
    private final ArrayDeque<Connection> free = new ArrayDeque<>();
    private final ByteBuffer read = ByteBuffer.allocateDirect(READ_BYTES);
    private final Stamp stamp;
    private long sent;
    private long answered;

    /**
     * Connects to a port of loopback.
     *
     * @param answers a reader of answers for each connection
     */
    public Pacer(int port, int count, byte[] request, Stamp stamp, Supplier<? extends Answers> answers)
            throws IOException {
        this.stamp = stamp;
        selector = Selector.open();
        try {
            for (int i = 0; i < count; i++) {
                connections.add(new Connection(port, request, answers.get()));
            }
        } catch (IOException e) {
            close();
            throw e;
        }
        free.addAll(connections);
    }

    /**
     * Sends for that long, and waits for the last answers.
     *
     * @return how many requests were sent, and answered
     */
    public long run(int perSecond, double seconds) throws IOException {
        long periodNs = TimeUnit.SECONDS.toNanos(1) / perSecond;
        long due = System.nanoTime() + periodNs;
        long end = due + (long) (seconds * 1e9);
        boolean heldUp = false;
        while (due - end < 0) {
            hear();
            long now = System.nanoTime();
            while (now - due >= 0 && !free.isEmpty()) {
                free.remove().send(heldUp ? due : now);
                due += periodNs;
                heldUp = false;
                now = System.nanoTime();
            }
            heldUp |= now - due >= 0;
            LockSupport.parkNanos(heldUp ? periodNs / 2 : due - now);
        }
        awaitAnswers();
        return answered;
    }

    private void awaitAnswers() throws IOException {
        long end = System.nanoTime() + LAST_ANSWERS_NS_MAX;
        while (answered < sent) {
            if (System.nanoTime() - end > 0) {
                throw new IOException(sent - answered + " requests have no answer");
            }
            hear();
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
        }
    }

    private void hear() throws IOException {
        if (selector.selectNow() > 0) {
            for (SelectionKey key : selector.selectedKeys()) {
                ((Connection) key.attachment()).hear();
            }
            selector.selectedKeys().clear();
        }
    }

    @Override
    public void close() throws IOException {
        for (Connection connection : connections) {
            connection.channel.close();
        }
        selector.close();
    }

    private final class Connection {
        private final SocketChannel channel;
        private final ByteBuffer request;
        private final Answers answers;

        Connection(int port, byte[] request, Answers answers) throws IOException {
            this.answers = answers;
            this.request =
                    ByteBuffer.allocateDirect(request.length).put(request).flip();
            channel = SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            SocketChannel unused = channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            SelectableChannel unusedToo = channel.configureBlocking(false);
            SelectionKey unusedKey = channel.register(selector, SelectionKey.OP_READ, this);
        }

        /** One request on a connection that has nothing under way: the socket has room for it. */
        void send(long startNs) throws IOException {
            stamp.in(request, startNs);
            int unused = channel.write(request);
            if (request.hasRemaining()) {
                throw new IOException("a socket took only a part of a request");
            }
            ByteBuffer unusedToo = request.rewind();
            sent++;
        }

        void hear() throws IOException {
            if (channel.read(read.clear()) < 0) {
                throw new EOFException("the server closed a connection");
            }
            int ended = answers.completed(read.flip());
            if (ended > 1) {
                throw new IOException("more answers than requests");
            }
            if (ended == 1) {
                answered++;
                free.add(this);
            }
        }
    }
}
