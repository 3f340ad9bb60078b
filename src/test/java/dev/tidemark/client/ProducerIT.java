package dev.tidemark.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.cli.FakeServer;
import dev.tidemark.cli.FakeServer.Answer;
import dev.tidemark.client.TidemarkException.Stored;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a producer makes of a server that refuses, is silent, or loses answers. The clock is the test's: nothing waits but connections. */
@Tag("client")
class ProducerIT {
    private static final String ACK =
            "{\"stream\":\"s\",\"count\":1,\"first\":\"EVT1\",\"last\":\"EVT2\",\"cursor\":\"c\",\"duplicate\":false}";
    private static final Answer STORED = Answer.json(201, ACK);
    private static final Answer BUSY = problem(503, "\"retryable\":true,\"stored\":\"no\"");
    private static final Answer MAYBE = problem(503, "\"retryable\":true,\"stored\":\"unknown\"");

    private final FakeServer server = new FakeServer();
    private final FakeTime time = new FakeTime();
    private final Producer producer =
            TidemarkClient.builder(server.url()).build(time).producer("a/b", "writer", 3);

    private static final class FakeTime implements Time {
        private final List<Long> sleptMs = new ArrayList<>();
        private long nowNs;

        @Override
        public long nowNs() {
            return nowNs;
        }

        @Override
        public void sleepMs(long ms) throws InterruptedException {
            if (Thread.interrupted()) {
                throw new InterruptedException("asleep");
            }
            sleptMs.add(ms);
            nowNs += ms * 1_000_000;
        }
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private static Answer problem(int status, String members) {
        return Answer.problem(
                status, "\"type\":\"urn:tidemark:problem:x\",\"title\":\"Refused\",\"detail\":\"because\"," + members);
    }

    private void answers(Answer... answers) {
        Iterator<Answer> all = List.of(answers).iterator();
        server.answer(request -> all.next());
    }

    private List<String> numbers() {
        return server.requests().stream().map(FakeServer.Request::producer).toList();
    }

    private List<String> bodies() {
        return server.requests().stream().map(FakeServer.Request::body).toList();
    }

    @Test
    void eachAppendHasTheNextNumber() {
        answers(STORED, STORED);
        Appended appended = producer.append(NewEvent.json("1"));
        producer.append(NewEvent.json("2"));
        assertEquals(new Appended(1, "EVT1", "EVT2", "c", false), appended);
        assertEquals(List.of("writer 3 0", "writer 3 1"), numbers());
        assertEquals("/v1/streams/a%2Fb/events", server.requests().get(0).uri());
    }

    @Test
    void whatGotNoAnswerIsSentAgainUnderItsNumber() {
        answers(Answer.none(), MAYBE, BUSY, STORED, STORED);
        producer.append(NewEvent.json("1"));
        producer.append(NewEvent.json("2"));
        assertEquals(List.of("writer 3 0", "writer 3 0", "writer 3 0", "writer 3 0", "writer 3 1"), numbers());
        assertEquals(1, bodies().subList(0, 4).stream().distinct().count(), "the very same bytes");
    }

    @Test
    void pausesGrowWithJitterAndDoAsTheServerAsks() {
        Answer inTwoSeconds = new Answer(503, BUSY.contentType(), BUSY.body(), Map.of("Retry-After", "2"), false);
        answers(BUSY, BUSY, BUSY, BUSY, inTwoSeconds, STORED);
        producer.append(NewEvent.json("1"));
        assertEquals(5, time.sleptMs.size());
        long most = 50;
        for (long slept : time.sleptMs.subList(0, 4)) {
            assertTrue(slept >= most / 2 && slept <= most, time.sleptMs.toString());
            most *= 2;
        }
        assertTrue(time.sleptMs.get(4) >= 2_000 && time.sleptMs.get(4) <= 2_000 + most, time.sleptMs.toString());
    }

    @Test
    void aRefusalIsNotRepeatedAndItsNumberIsUsedAgain() {
        answers(problem(413, "\"retryable\":false,\"limit\":\"limits.event_bytes\",\"max\":9"), STORED);
        TidemarkException refused = assertThrows(TidemarkException.class, () -> producer.append(NewEvent.json("1")));
        assertEquals(413, refused.status());
        assertEquals("urn:tidemark:problem:x", refused.type());
        assertEquals("because", refused.detail());
        assertFalse(refused.retryable());
        assertEquals(Stored.NO, refused.stored());
        assertEquals("limits.event_bytes", refused.field("limit"));
        assertEquals("9", refused.field("max"));
        assertNull(refused.field("line"));
        producer.append(NewEvent.json("2"));
        assertEquals(List.of("writer 3 0", "writer 3 0"), numbers());
    }

    @Test
    void triesEndAtTheDeadlineAndNothingWasStoredIfEveryAnswerSaidSo() {
        server.answer(request -> BUSY);
        TidemarkException end = assertThrows(TidemarkException.class, () -> producer.append(NewEvent.json("1")));
        assertEquals(Stored.NO, end.stored());
        assertTrue(end.retryable());
        assertFalse(producer.inDoubt());
        assertTrue(time.nowNs <= Duration.ofSeconds(30).toNanos()
                && time.nowNs > Duration.ofSeconds(25).toNanos());
    }

    @Test
    void oneTryWithoutAnswerIsEnoughForDoubt() {
        answers(Answer.none(), problem(404, "\"retryable\":false"), STORED, STORED);
        TidemarkException end = assertThrows(TidemarkException.class, () -> producer.append(NewEvent.json("1")));
        assertEquals(404, end.status());
        assertEquals(Stored.UNKNOWN, end.stored());
        assertTrue(producer.inDoubt());
        assertThrows(IllegalStateException.class, () -> producer.append(NewEvent.json("2")));
        assertEquals(2, numbers().size(), "nothing was sent while in doubt");
        producer.resend();
        assertEquals(bodies().get(0), bodies().get(2));
        producer.append(NewEvent.json("2"));
        assertEquals(List.of("writer 3 0", "writer 3 0", "writer 3 0", "writer 3 1"), numbers());
    }

    @Test
    void doubtStaysWhileResendingIsRefused() {
        answers(Answer.none(), problem(404, "\"retryable\":false"), problem(409, "\"retryable\":false"));
        assertThrows(TidemarkException.class, () -> producer.append(NewEvent.json("1")));
        TidemarkException end = assertThrows(TidemarkException.class, producer::resend);
        assertEquals(Stored.UNKNOWN, end.stored());
        assertTrue(producer.inDoubt());
    }

    @Test
    void whoAbandonsGoesOnUnderAHigherEpoch() {
        answers(Answer.none(), problem(404, "\"retryable\":false"), STORED);
        assertThrows(TidemarkException.class, () -> producer.append(NewEvent.json("1")));
        producer.abandon();
        assertFalse(producer.inDoubt());
        producer.append(NewEvent.json("2"));
        assertEquals("writer 4 0", numbers().get(2));
        assertThrows(IllegalStateException.class, producer::abandon);
        assertThrows(IllegalStateException.class, producer::resend);
    }

    @Test
    void withoutAServerNothingWasStored() {
        server.stop();
        TidemarkException end = assertThrows(TidemarkException.class, () -> producer.append(NewEvent.json("1")));
        assertEquals(TidemarkException.NOT_CONNECTED, end.type());
        assertEquals(0, end.status());
        assertEquals(Stored.NO, end.stored());
        assertTrue(time.sleptMs.size() > 5, "it was tried again: " + time.sleptMs);
    }

    @Test
    void whoIsInterruptedBetweenTriesKnowsWhatIsKnown() {
        server.answer(request -> {
            return MAYBE;
        });
        Thread.currentThread().interrupt();
        TidemarkException end = assertThrows(TidemarkException.class, () -> producer.append(NewEvent.json("1")));
        assertTrue(Thread.interrupted(), "the thread is still marked");
        assertEquals(TidemarkException.INTERRUPTED, end.type());
        assertEquals(Stored.UNKNOWN, end.stored());
    }

    @Test
    void anEventIsAnEnvelopeAndItsBytesStayTheirOwn() {
        answers(STORED);
        producer.append(List.of(
                NewEvent.json("{\"a\": [1.50, \"\\u00e4\"]}"),
                NewEvent.json("{\n}"),
                NewEvent.json("1,\"time\":5"),
                NewEvent.text("a\nb").happenedAt(Instant.ofEpochMilli(7)),
                NewEvent.bytes("image/png", new byte[] {1, 2})));
        assertEquals(
                List.of(
                        "{\"data\":{\"a\": [1.50, \"\\u00e4\"]}}",
                        "{\"base64\":\"ewp9\",\"content_type\":\"application/json\"}",
                        "{\"base64\":\"MSwidGltZSI6NQ==\",\"content_type\":\"application/json\"}",
                        "{\"base64\":\"YQpi\",\"content_type\":\"text/plain\",\"time\":7}",
                        "{\"base64\":\"AQI=\",\"content_type\":\"image/png\"}"),
                server.requests().get(0).lines());
        assertEquals(
                "application/vnd.tidemark.events+ndjson",
                server.requests().get(0).contentType());
    }

    @Test
    void anAnswerThatIsNoAcknowledgementLeavesDoubt() {
        answers(Answer.json(200, "<html>hello</html>"));
        TidemarkException end = assertThrows(TidemarkException.class, () -> producer.append(NewEvent.json("1")));
        assertEquals(TidemarkException.NOT_UNDERSTOOD, end.type());
        assertEquals(Stored.UNKNOWN, end.stored());
        assertTrue(producer.inDoubt());
    }
}
