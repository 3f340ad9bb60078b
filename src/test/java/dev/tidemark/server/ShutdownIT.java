package dev.tidemark.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.http.RawClient;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** SIGTERM under load, with many followers, some of whom are frozen: they never read, nor answer a close. */
@Tag("R50")
@Tag("failure-12")
class ShutdownIT {
    private static final int FOLLOWERS = 200;
    private static final int FROZEN = 5;
    /** The five seconds that the frozen ones get, the last fold, and the end of the JVM, on a busy machine. */
    private static final long EXIT_MS_MAX = 25_000;

    @TempDir
    Path dir;

    private final List<Long> acknowledged = Collections.synchronizedList(new ArrayList<>());
    private final List<Integer> otherAnswers = Collections.synchronizedList(new ArrayList<>());
    private volatile boolean writing = true;

    @Test
    void everyOneIsToldWhereToResumeAndNothingIsMissingAfterwards() throws Exception {
        ServerProcess server = ServerProcess.start(dir);
        try (Crowd crowd = new Crowd(server.url())) {
            Api api = server.api();
            assertEquals(201, api.put("s", "{}").status());
            List<Crowd.Member> fast = new ArrayList<>();
            for (int i = 0; i < FOLLOWERS - FROZEN; i++) {
                fast.add(crowd.join("s", "", Crowd.Pace.FAST));
            }
            for (int i = 0; i < FROZEN; i++) {
                var unused = crowd.join("s", "", Crowd.Pace.STALLED);
            }
            crowd.await("hello", 30, fast, Crowd.Member::greeted);
            Thread writer = new Thread(() -> write(api), "writer");
            writer.start();
            crowd.await("events", 30, fast, member -> member.events() > 50);
            // Connected before the stop, asking during it.
            List<RawClient> waiting = connected(server);

            long stoppedNs = System.nanoTime();
            assertTrue(server.process().toHandle().destroy());
            crowd.await("a close frame", 10, fast, member -> member.closeCode() != 0);
            List<JsonObject> answers = ask(waiting);
            assertTrue(server.process().waitFor(EXIT_MS_MAX, TimeUnit.MILLISECONDS), "still there after the bound");
            long exitMs = (System.nanoTime() - stoppedNs) / 1_000_000;
            System.out.println("exit after " + exitMs + " ms, with " + FROZEN + " of " + FOLLOWERS + " frozen; answers"
                    + " during the drain: " + answers);
            writing = false;
            writer.join();
            server.awaitLogEnd();
            assertEquals(ServerProcess.TERMINATED, server.process().exitValue());
            assertTrue(
                    server.log().stream().anyMatch(line -> line.endsWith("stopped")),
                    () -> String.join("\n", server.log()));
            server.assertCleanLog();

            for (Crowd.Member member : fast) {
                assertEquals(4000, member.closeCode(), member::toString);
                assertEquals(0, member.wrong(), member::toString);
            }
            Set<Integer> hints = fast.stream()
                    .map(member -> new JsonObject(member.lastOther()).getInteger("retry_after_ms"))
                    .collect(Collectors.toSet());
            assertTrue(hints.size() > FOLLOWERS / 2, "not all at the same moment: " + hints.size());
            assertEquals(
                    Set.of(), otherStatuses(), "an append that isn't stored is refused with 503, or not taken at all");
            try (ServerProcess again = ServerProcess.start(dir)) {
                resume(again, fast);
            }
        } finally {
            server.close();
        }
    }

    /** One batch after the other; an append that had no answer may be stored or not. */
    private void write(Api api) {
        for (long number = 0; writing; number++) {
            try {
                byte[] body = Follower.utf8(Crowd.payload(number));
                int status = api.append("s", "application/json", body).status();
                if (status == 201) {
                    acknowledged.add(number);
                } else {
                    otherAnswers.add(status);
                    return;
                }
            } catch (UncheckedIOException refused) {
                return;
            }
        }
    }

    private Set<Integer> otherStatuses() {
        Set<Integer> all = new HashSet<>(otherAnswers);
        all.remove(503);
        return all;
    }

    private static List<RawClient> connected(ServerProcess server) throws Exception {
        List<RawClient> clients = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            RawClient client = new RawClient(URI.create(server.url()).getPort());
            clients.add(client.send("GET /health/ready HTTP/1.1\r\nHost: localhost\r\n\r\n"));
            assertEquals(200, client.answer().status());
        }
        return clients;
    }

    /** Asks the connections that were there before, and a new one, which may be refused; gives what they were told. */
    private static List<JsonObject> ask(List<RawClient> clients) throws IOException {
        List<JsonObject> answers = new ArrayList<>();
        String[] requests = {
            "GET /health/ready HTTP/1.1\r\nHost: localhost\r\n\r\n",
            "POST /v1/streams/s/events HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\n1",
            "GET /v1/streams/s/tail HTTP/1.1\r\nHost: localhost\r\n\r\n"
        };
        for (int i = 0; i < requests.length; i++) {
            RawClient.Answer answer = clients.get(i).send(requests[i]).answer();
            assertEquals(503, answer.status(), requests[i]);
            answers.add(new JsonObject(answer.text()));
            clients.get(i).close();
        }
        assertEquals("failing", answers.get(0).getString("status"), "readiness is off");
        return answers;
    }

    /** Each goes on with the cursor that it was given: what it got before and gets then is all there is, once. */
    private void resume(ServerProcess again, List<Crowd.Member> before) throws Exception {
        JsonObject audit = again.api().get(Api.stream("s") + "/audit").json();
        assertEquals(0, audit.getInteger("mismatches"), audit::encode);
        List<Long> stored = again.api().events(Api.stream("s") + "/events").stream()
                .map(event -> event.getJsonObject("data").getLong("n"))
                .toList();
        assertEquals(new ArrayList<>(new TreeSet<>(stored)), stored, "in order, once");
        assertTrue(stored.containsAll(acknowledged), "everything that was acknowledged is there");
        assertTrue(stored.size() - acknowledged.size() <= 1, "and at most what had no answer");
        long next = stored.get(stored.size() - 1) + 1;
        try (Crowd crowd = new Crowd(again.url())) {
            List<Crowd.Member> after = new ArrayList<>();
            for (Crowd.Member member : before) {
                String cursor = new JsonObject(member.lastOther()).getString("cursor");
                after.add(crowd.join("s", "after=" + cursor, Crowd.Pace.FAST));
            }
            assertEquals(
                    201,
                    again.api()
                            .append("s", "application/json", Follower.utf8(Crowd.payload(next)))
                            .status());
            crowd.await("the next event", 30, after, member -> member.last() == next);
            for (int i = 0; i < after.size(); i++) {
                Crowd.Member one = after.get(i);
                assertEquals(0, one.wrong(), one::toString);
                assertEquals(before.get(i).last() + 1, next + 1 - one.events(), "gap-free, and no repeat: " + one);
            }
        }
        assertEquals(ServerProcess.TERMINATED, again.terminate());
        again.assertCleanLog();
    }
}
