package dev.tidemark.server;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A TCP proxy in front of the server. Fault model: every tenth answer is swallowed and its connection closed, so that the client can't know
 * what became of its request; every few requests a client's connection is closed while its bytes are held back, and they reach the server
 * later, when the client has long sent them again on another connection. Bytes aren't altered, and their order within a connection
 * isn't either. One request at a time is under way on a connection.
 */
final class LossyProxy extends TcpProxy {
    private static final int ANSWER_DROPPED_EVERY = 10;
    private static final int REQUEST_DELAYED_EVERY = 50;
    private static final int DELAY_MS_MAX = 300;

    private final SplittableRandom random;
    private final AtomicInteger answers = new AtomicInteger();
    private final AtomicInteger requests = new AtomicInteger();
    private final AtomicLong dropped = new AtomicLong();
    private final AtomicLong delayed = new AtomicLong();
    private volatile int target;

    LossyProxy(long seed) throws IOException {
        random = new SplittableRandom(seed);
        start();
    }

    @Override
    int target() {
        return target;
    }

    /** Port of the server as it runs now. */
    void target(int port) {
        target = port;
    }

    long dropped() {
        return dropped.get();
    }

    long delayed() {
        return delayed.get();
    }

    @Override
    void serve(Socket client, Socket server) throws IOException, InterruptedException {
        run(() -> answers(server, client));
        requests(client, server);
    }

    private void requests(Socket client, Socket server) throws IOException, InterruptedException {
        InputStream from = client.getInputStream();
        OutputStream to = server.getOutputStream();
        byte[] buffer = new byte[64 << 10];
        for (int length = from.read(buffer); length >= 0; length = from.read(buffer)) {
            if (requests.incrementAndGet() % REQUEST_DELAYED_EVERY == 0) {
                delayed.incrementAndGet();
                client.close();
                Thread.sleep(delayMs());
                to.write(buffer, 0, length);
                Thread.sleep(DELAY_MS_MAX);
                return;
            }
            to.write(buffer, 0, length);
        }
    }

    private synchronized int delayMs() {
        return random.nextInt(1, DELAY_MS_MAX);
    }

    /** However the server's side ends, the client's ends with it: a server that is killed with bytes unread resets its connection. */
    private void answers(Socket server, Socket client) throws IOException {
        try (client) {
            InputStream from = server.getInputStream();
            byte[] buffer = new byte[64 << 10];
            for (int length = from.read(buffer); length >= 0; length = from.read(buffer)) {
                if (answers.incrementAndGet() % ANSWER_DROPPED_EVERY == 0) {
                    dropped.incrementAndGet();
                    return;
                }
                client.getOutputStream().write(buffer, 0, length);
            }
        }
    }
}
