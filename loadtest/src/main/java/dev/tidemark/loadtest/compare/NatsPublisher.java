package dev.tidemark.loadtest.compare;

import dev.tidemark.loadtest.driver.ClosedLoop;
import dev.tidemark.loadtest.driver.NatsAnswers;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** Publishes the same batch to JetStream again and again over one blocking connection. One thread. */
final class NatsPublisher implements AutoCloseable {
    private static final int READ_BYTES = 64 << 10;

    private final SocketChannel channel;
    private final ClosedLoop.Request batch;
    private final NatsAnswers acknowledgements = new NatsAnswers();
    private final ByteBuffer read = ByteBuffer.allocateDirect(READ_BYTES);

    NatsPublisher(int port, ClosedLoop.Talk talk) throws IOException {
        channel = SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        batch = talk.request();
        write(talk.greeting());
    }

    private void write(ByteBuffer bytes) throws IOException {
        ByteBuffer left = bytes.duplicate();
        while (left.hasRemaining()) {
            int unused = channel.write(left);
        }
    }

    /** Publishes the batch and waits until all of it is acknowledged. */
    void publish() throws IOException {
        write(batch.bytes());
        int missing = batch.answers();
        while (missing > 0) {
            if (channel.read(read.clear()) < 0) {
                throw new EOFException("NATS closed the publisher's connection");
            }
            missing -= acknowledgements.completed(read.flip());
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
