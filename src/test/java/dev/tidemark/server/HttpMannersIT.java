package dev.tidemark.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.http.RawClient;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.SocketException;
import java.net.URI;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Careless and hostile HTTP against the whole server, with its default limits but for the times that a head and a body may take. */
@Tag("R53")
class HttpMannersIT {
    private static final String POST = "POST /v1/streams/manners/events HTTP/1.1\r\nHost: localhost\r\n";
    private static final int BODY_MAX = 16 << 20;

    @RegisterExtension
    static final RunningServer SERVER =
            new RunningServer(Map.of("TIDEMARK_HTTP_BODY_TIMEOUT", "2s", "TIDEMARK_HTTP_IDLE_TIMEOUT", "4s"));

    private static RawClient raw() throws IOException {
        return new RawClient(URI.create(SERVER.url()).getPort());
    }

    private static int ask(String request) throws IOException {
        try (RawClient client = raw()) {
            return client.send(request).answer().status();
        }
    }

    @Test
    void aClientThatAsksFirstIsToldAtOnce() throws IOException {
        try (RawClient client = raw()) {
            long startNs = System.nanoTime();
            client.send(POST + "Content-Type: application/json\r\nContent-Length: 7\r\nExpect: 100-continue\r\n\r\n");
            assertEquals(100, client.answer().status());
            assertTrue(System.nanoTime() - startNs < 900_000_000L, "curl waits a second");
            assertEquals(201, client.send("{\"a\":1}").answer().status());
        }
        long startNs = System.nanoTime();
        assertEquals(413, ask(POST + "Content-Length: " + (BODY_MAX + 1) + "\r\nExpect: 100-continue\r\n\r\n"));
        assertEquals(417, ask(POST + "Content-Length: 9\r\nExpect: more\r\n\r\n"));
        assertTrue(System.nanoTime() - startNs < 1_500_000_000L);
    }

    @Test
    void twoLengthsAreNeverTwoRequests() throws IOException {
        try (RawClient client = raw()) {
            // By its length the request ends in the middle of a chunk, and what follows would be another request.
            String smuggled = "GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n";
            client.send(POST + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
                    + Integer.toHexString(smuggled.length()) + "\r\n" + smuggled + "\r\n0\r\n\r\n");
            int status = client.answer().status();
            assertTrue(status == 400 || status == 201, "refused, or one event: " + status);
            client.socket.setSoTimeout(2_000);
            assertNothingMore(client);
        }
        assertEquals(400, ask(POST + "Content-Length: 4\r\nContent-Length: 5\r\n\r\n12345"));
    }

    private static void assertNothingMore(RawClient client) throws IOException {
        try {
            assertEquals(0, client.in.readAllBytes().length, "what was in the body is no request");
        } catch (java.net.SocketTimeoutException quiet) {
            assertEquals(0, client.in.available());
        }
    }

    @Test
    void aBodyOverTheLimitIsRefusedAsSoonAsThatIsKnown() throws IOException {
        assertEquals(413, ask(POST + "Content-Length: " + (BODY_MAX + 1) + "\r\n\r\n"));
        try (RawClient client = raw()) {
            client.send(POST + "Content-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n");
            byte[] piece = ("10000\r\n" + "{}\n".repeat(21_845) + "\n\r\n")
                    .getBytes(java.nio.charset.StandardCharsets.US_ASCII);
            int sent = 0;
            try {
                while (client.in.available() == 0 && sent < 2 * BODY_MAX) {
                    client.send(piece);
                    sent += 0x10000;
                }
            } catch (SocketException closed) {
                assertTrue(sent > BODY_MAX / 2, "after " + sent);
            }
            assertTrue(sent < BODY_MAX + (8 << 20), "sent " + sent);
            assertEquals(413, client.answer().status());
        }
    }

    @Test
    void whoSendsAByteNowAndThenIsEndedWithinABound() throws IOException {
        for (String start :
                List.of(POST + "Content-Length: 1000\r\n\r\n", POST + "Transfer-Encoding: chunked\r\n\r\n3e8\r\n")) {
            try (RawClient client = raw()) {
                client.send(start);
                long startNs = System.nanoTime();
                boolean over = false;
                while (!over && System.nanoTime() - startNs < 15_000_000_000L) {
                    Waiting.ms(700);
                    over = client.in.available() > 0;
                    client.send(over ? "" : "1");
                }
                assertEquals(408, client.answer().status());
                assertTrue(System.nanoTime() - startNs < 10_000_000_000L);
            }
        }
    }

    @Test
    void pipelinedAppendsAreAnsweredAndStoredInTheirOrder() throws IOException {
        assertEquals(201, SERVER.api().put("pipelined", "{}").status());
        StringBuilder requests = new StringBuilder();
        for (int i = 1; i <= 3; i++) {
            requests.append("POST /v1/streams/pipelined/events HTTP/1.1\r\nHost: localhost\r\n"
                    + "Content-Type: application/json\r\nContent-Length: 1\r\n\r\n" + i);
        }
        List<String> firsts = new java.util.ArrayList<>();
        try (RawClient client = raw()) {
            client.send(requests.toString());
            for (int i = 1; i <= 3; i++) {
                RawClient.Answer answer = client.answer();
                assertEquals(201, answer.status());
                firsts.add(new JsonObject(answer.text()).getString("first"));
            }
        }
        List<JsonObject> stored = SERVER.api().events(Api.stream("pipelined") + "/events");
        assertEquals(firsts, Api.ids(stored));
        assertEquals(
                List.of(1, 2, 3),
                stored.stream().map(event -> event.getInteger("data")).toList());
    }

    @Test
    void deepNestingLongHeadsAndRubbishAreSaidAndNeverAFailure() throws IOException {
        String deep = "[".repeat(10_000) + "]".repeat(10_000);
        Api.Answer answer = SERVER.api().append("manners", "application/json", Follower.utf8(deep));
        assertEquals(400, answer.status());
        assertFalse(answer.text().contains("StackOverflow"), answer.text());
        String get = "GET /health/live HTTP/1.1\r\nHost: localhost\r\n";
        assertEquals(431, ask(get + "X-Long: " + "x".repeat(9 << 10) + "\r\n\r\n"));
        assertEquals(200, ask(get + "X-Long: " + "x".repeat(7 << 10) + "\r\n\r\n"));
        assertEquals(414, ask("GET /v1/streams/" + "x".repeat(5 << 10) + " HTTP/1.1\r\nHost: localhost\r\n\r\n"));
        for (String rubbish : List.of("GET\r\n\r\n", "GET / HTTP/x.y\r\n\r\n")) {
            assertEquals(400, ask(rubbish), rubbish);
        }
        try (RawClient client = raw()) {
            // Control characters without end.
            byte[] controls = new byte[1 << 10];
            long startNs = System.nanoTime();
            try {
                while (System.nanoTime() - startNs < 15_000_000_000L) {
                    client.send(controls);
                    Waiting.ms(50);
                }
            } catch (SocketException closed) {
                assertTrue(System.nanoTime() - startNs < 10_000_000_000L, "within the idle timeout");
            }
            assertTrue(System.nanoTime() - startNs < 10_000_000_000L, "it takes them without end");
        }
        assertEquals(200, SERVER.api().get("/health/live").status());
    }
}
