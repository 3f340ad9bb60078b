package dev.tidemark.loadtest.driver;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** One read over HTTP on a connection of its own, as long as it may be; counts what is in it and keeps nothing. One thread. */
public final class StreamedRead {
    private static final int READ_BYTES = 256 << 10;

    private final int port;
    private final ByteBuffer read = ByteBuffer.allocateDirect(READ_BYTES);

    public StreamedRead(int port) {
        this.port = port;
    }

    /**
     * What came.
     *
     * @param count how often the counted sequence was in the body
     * @param ns from the sending of the request to the end of the answer
     */
    public record Whole(long count, long ns) {}

    /**
     * Reads all of an answer with status 200.
     *
     * @param counted a sequence of bytes of the body
     * @param hop so many bytes after it hold no other
     */
    public Whole all(byte[] request, String counted, int hop) throws IOException {
        HttpAnswers answer = new HttpAnswers(200, counted, hop);
        try (SocketChannel channel =
                SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))) {
            long start = System.nanoTime();
            write(channel, request);
            while (next(channel, answer) == 0) {}
            return new Whole(answer.counted(), System.nanoTime() - start);
        }
    }

    /** Nanoseconds from the sending of the request to the first byte of the body; then the connection is cut. */
    public long firstByteNs(byte[] request) throws IOException {
        HttpAnswers answer = new HttpAnswers(200);
        try (SocketChannel channel =
                SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))) {
            long start = System.nanoTime();
            write(channel, request);
            while (answer.bodyBytes() == 0) {
                if (next(channel, answer) > 0) {
                    throw new IOException("an answer without a body");
                }
            }
            return System.nanoTime() - start;
        }
    }

    private static void write(SocketChannel channel, byte[] request) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(request);
        while (bytes.hasRemaining()) {
            int unused = channel.write(bytes);
        }
    }

    private int next(SocketChannel channel, HttpAnswers answer) throws IOException {
        if (channel.read(read.clear()) < 0) {
            throw new EOFException("the server closed the connection within an answer");
        }
        return answer.completed(read.flip());
    }
}
