package dev.tidemark.loadtest.driver;

import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.HdrHistogram.Histogram;

/**
 * Closed loop over loopback: every connection sends its request again as soon as that is answered. One thread and one selector, so
 * that the driver costs about as little as {@code redis-benchmark}.
 */
public final class ClosedLoop {
    private static final long LATENCY_NS_MAX = TimeUnit.SECONDS.toNanos(60);
    private static final long SILENCE_NS_MAX = TimeUnit.SECONDS.toNanos(20);
    private static final long SELECT_MS_MAX = 100;
    private static final int READ_BYTES = 256 << 10;

    /**
     * What is sent.
     *
     * @param bytes one request, or several that are sent as one
     * @param answers how many answers it gets
     * @param weight what it counts for in the rate, such as its number of events
     */
    public record Request(ByteBuffer bytes, int answers, int weight) {
        public static Request of(byte[] bytes, int answers, int weight) {
            return new Request(ByteBuffer.wrap(bytes).asReadOnlyBuffer(), answers, weight);
        }
    }

    /**
     * What a connection says and hears.
     *
     * @param greeting sent once, before the first request; it gets no answers
     * @param answers of this connection alone
     * @param change what is written into the request before it is sent
     */
    public record Talk(ByteBuffer greeting, Request request, Answers answers, Change change) {
        /** The same request each time. */
        public Talk(ByteBuffer greeting, Request request, Answers answers) {
            this(greeting, request, answers, bytes -> {});
        }

        /** Without a greeting. */
        public static Talk of(Request request, Answers answers) {
            return new Talk(ByteBuffer.allocate(0), request, answers);
        }
    }

    /** Changes a request before it is sent, in place. */
    public interface Change {
        /** @param bytes the whole request; its position may not be moved */
        void in(ByteBuffer bytes);
    }

    /**
     * What came of it.
     *
     * @param perSecond the requests' weights that were answered, a second
     * @param latenciesNs from the sending of each request to its last answer
     */
    public record Outcome(double perSecond, Histogram latenciesNs) {}

    private final int port;
    private final IntFunction<Talk> talks;
    private final Histogram latenciesNs = new Histogram(LATENCY_NS_MAX, 3);
    private final ByteBuffer read = ByteBuffer.allocateDirect(READ_BYTES);
    private long countsFrom;
    private long end;
    private double answered;

    /** @param talks for the number of each connection, from 0 */
    public ClosedLoop(int port, IntFunction<Talk> talks) {
        this.port = port;
        this.talks = talks;
    }

    /** @param answers a reader of answers for each connection */
    public ClosedLoop(int port, Request request, Supplier<? extends Answers> answers) {
        this(port, number -> Talk.of(request, answers.get()));
    }

    /** Runs for the warm-up and then for the time that counts. */
    public Outcome run(int connections, double warmUpSeconds, double seconds) throws IOException {
        List<Connection> open = new ArrayList<>();
        try (Selector selector = Selector.open()) {
            for (int i = 0; i < connections; i++) {
                open.add(new Connection(selector, talks.apply(i)));
            }
            countsFrom = System.nanoTime() + (long) (warmUpSeconds * 1e9);
            end = countsFrom + (long) (seconds * 1e9);
            for (Connection connection : open) {
                connection.send(System.nanoTime());
            }
            loop(selector);
        } catch (UncheckedIOException e) {
            throw new IOException(e.getMessage(), e);
        } finally {
            for (Connection connection : open) {
                connection.channel.close();
            }
        }
        return new Outcome(answered / seconds, latenciesNs);
    }

    private void loop(Selector selector) throws IOException {
        long heard = System.nanoTime();
        for (long now = heard; now - end < 0; now = System.nanoTime()) {
            int ready = selector.select(ClosedLoop::ready, SELECT_MS_MAX);
            heard = ready > 0 ? now : heard;
            if (now - heard > SILENCE_NS_MAX) {
                throw new IOException("no answer for " + TimeUnit.NANOSECONDS.toSeconds(SILENCE_NS_MAX) + " s");
            }
        }
    }

    private static void ready(SelectionKey key) {
        try {
            ((Connection) key.attachment()).ready();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private final class Connection {
        private final SocketChannel channel;
        private final SelectionKey key;
        private final ByteBuffer toSend;
        private final Request request;
        private final Answers in;
        private final Change change;
        private int missing;
        private long sentAt;

        Connection(Selector selector, Talk talk) throws IOException {
            request = talk.request();
            in = talk.answers();
            change = talk.change();
            channel = SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            SocketChannel unused = channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            greet(talk.greeting().duplicate());
            SelectableChannel unusedToo = channel.configureBlocking(false);
            key = channel.register(selector, SelectionKey.OP_READ, this);
            toSend = ByteBuffer.allocateDirect(request.bytes().remaining())
                    .put(request.bytes().duplicate())
                    .flip();
        }

        private void greet(ByteBuffer greeting) throws IOException {
            while (greeting.hasRemaining()) {
                int unused = channel.write(greeting);
            }
        }

        void send(long now) throws IOException {
            sentAt = now;
            missing = request.answers();
            change.in(toSend);
            write();
        }

        private void write() throws IOException {
            int unused = channel.write(toSend);
            boolean all = !toSend.hasRemaining();
            if (all) {
                ByteBuffer unusedToo = toSend.rewind();
            }
            int interest = all ? SelectionKey.OP_READ : SelectionKey.OP_READ | SelectionKey.OP_WRITE;
            if (key.interestOps() != interest) {
                SelectionKey unusedKey = key.interestOps(interest);
            }
        }

        void ready() throws IOException {
            if (key.isWritable()) {
                write();
            }
            if (!key.isReadable()) {
                return;
            }
            if (channel.read(read.clear()) < 0) {
                throw new EOFException("the server closed a connection");
            }
            missing -= in.completed(read.flip());
            if (missing == 0) {
                long now = System.nanoTime();
                if (now - countsFrom >= 0 && now - end < 0) {
                    answered += request.weight();
                    latenciesNs.recordValue(Math.min(now - sentAt, LATENCY_NS_MAX));
                }
                send(now);
            } else if (missing < 0) {
                throw new IOException("more answers than requests");
            }
        }
    }
}
