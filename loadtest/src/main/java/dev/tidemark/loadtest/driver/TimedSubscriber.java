package dev.tidemark.loadtest.driver;

import dev.tidemark.loadtest.OpenLoop;
import dev.tidemark.loadtest.Payloads;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * One subscriber over WebSocket, one event a frame, that notes how old each event is when it arrives: events carry the time at which
 * they count as sent ({@link System#nanoTime}). A blocking thread of its own reads.
 */
public final class TimedSubscriber implements AutoCloseable {
    private static final int READ_BYTES = 256 << 10;
    private static final long WAIT_SECONDS_MAX = 15;
    private static final long LATENCY_NS_MAX = TimeUnit.SECONDS.toNanos(60);
    private static final String GREETING = "\"type\":\"hello\"";

    private final long countsFrom;
    private final SocketChannel channel;
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(READ_BYTES);
    private final Thread reader = new Thread(this::readAll, "subscriber");

    // Written by the reader.
    private final NumberedArrivals arrivals = new NumberedArrivals(Payloads.HEAD, Payloads.DIGITS, this::arrived);
    private final Histogram latencies = OpenLoop.histogram();
    private long now;
    private volatile long received;
    private volatile @Nullable IOException failure;

    private TimedSubscriber(SocketChannel channel, long countsFrom) {
        this.channel = channel;
        this.countsFrom = countsFrom;
    }

    /**
     * Connects and waits until the subscription is there.
     *
     * @param path of the subscription, which begins with what comes next
     * @param countsFrom events sent before this ({@link System#nanoTime}) aren't counted in the latencies
     */
    public static TimedSubscriber open(int port, String path, long countsFrom) throws IOException {
        SocketChannel channel = SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        TimedSubscriber subscriber = new TimedSubscriber(channel, countsFrom);
        try {
            ByteBuffer upgrade = ByteBuffer.wrap(WebSocketRequests.upgrade(path, port));
            while (upgrade.hasRemaining()) {
                int unused = channel.write(upgrade);
            }
            WebSocketMessages messages = new WebSocketMessages(Payloads.HEAD, 0, GREETING);
            while (!messages.isGreeted()) {
                int none = messages.completed(subscriber.read());
                if (none > 0) {
                    throw new IOException("an event before the first append");
                }
            }
            subscriber.reader.start();
            return subscriber;
        } catch (IOException e) {
            channel.close();
            throw e;
        }
    }

    private ByteBuffer read() throws IOException {
        if (channel.read(buffer.clear()) < 0) {
            throw new EOFException("the server cut the subscriber off");
        }
        return buffer.flip();
    }

    private void readAll() {
        try {
            while (channel.isOpen()) {
                ByteBuffer bytes = read();
                now = System.nanoTime();
                arrivals.in(bytes);
            }
        } catch (IOException e) {
            failure = e;
        }
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // one writer
    private void arrived(long sentNs) {
        if (sentNs - countsFrom >= 0) {
            latencies.recordValue(Math.min(Math.max(0, now - sentNs), LATENCY_NS_MAX));
        }
        received++;
    }

    /** Waits until exactly that many events have come, and gives their latencies in nanoseconds. */
    public Histogram awaitAll(long events) throws IOException, InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_SECONDS_MAX);
        while (received < events && failure == null && System.nanoTime() - end < 0) {
            TimeUnit.MILLISECONDS.sleep(10);
        }
        if (received != events) {
            throw new IOException("the subscriber got " + received + " of " + events + " events", failure);
        }
        return latencies;
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
