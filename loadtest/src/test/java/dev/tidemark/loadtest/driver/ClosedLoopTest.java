package dev.tidemark.loadtest.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The driver against a small server: requests larger than what a socket takes at once arrive whole, failures end the run. */
class ClosedLoopTest {
    private static final int BODY_BYTES = 8 << 20;

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final AtomicInteger requests = new AtomicInteger();
    private final AtomicInteger wrong = new AtomicInteger();
    private HttpServer server;

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/", exchange -> {
            int length = exchange.getRequestBody().readAllBytes().length;
            int unused = length == BODY_BYTES ? 0 : wrong.incrementAndGet();
            int status = requests.incrementAndGet() > 20
                            && exchange.getRequestURI().getPath().equals("/fails")
                    ? 500
                    : 201;
            exchange.sendResponseHeaders(status, 2);
            exchange.getResponseBody().write("ok".getBytes(StandardCharsets.UTF_8));
            exchange.close();
        });
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
        threads.shutdownNow();
    }

    private ClosedLoop loop(String path) {
        String request = "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + BODY_BYTES + "\r\n\r\n"
                + "x".repeat(BODY_BYTES);
        return new ClosedLoop(
                server.getAddress().getPort(),
                ClosedLoop.Request.of(request.getBytes(StandardCharsets.US_ASCII), 1, 10),
                () -> new HttpAnswers(201));
    }

    @Test
    void requestsArriveWholeAndAreCounted() throws IOException {
        ClosedLoop.Outcome outcome = loop("/").run(2, 0, 1);
        assertEquals(0, wrong.get());
        assertTrue(outcome.perSecond() <= requests.get() * 10.0);
        assertEquals(Math.round(outcome.perSecond() / 10), outcome.latenciesNs().getTotalCount());
    }

    @Test
    void anAnswerThatSaysNoEndsTheRun() {
        assertThrows(IOException.class, () -> loop("/fails").run(2, 0, 30));
    }
}
