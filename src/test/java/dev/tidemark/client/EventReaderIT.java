package dev.tidemark.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.cli.FakeServer;
import dev.tidemark.cli.FakeServer.Answer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Ranges that end well, are cut, have gaps, or aren't there. */
@Tag("client")
class EventReaderIT {
    private static final String END = "{\"type\":\"end\",\"cursor\":\"last\",\"complete\":true}";
    private static final String GAP = "{\"type\":\"gap\",\"from\":\"EVTa\",\"to\":\"EVTb\",\"reason\":\"lost\"}";

    private final FakeServer server = new FakeServer();
    private final TidemarkClient client = TidemarkClient.builder(server.url())
            .deadline(Duration.ofMillis(300))
            .build();

    @AfterEach
    void stop() {
        server.close();
    }

    private static String event(int i) {
        return "{\"id\":\"EVT" + i + "\",\"cursor\":\"c" + i + "\",\"at\":1,\"data\":{\"n\":" + i + "}}";
    }

    private EventReader read(Answer answer) {
        server.answer(request -> answer);
        return client.read("s", ReadRange.all());
    }

    @Test
    void aWholeRangeEndsAndTellsItsCursor() {
        EventReader reader = read(Answer.lines(event(1), event(2), END));
        assertNull(reader.cursor());
        assertEquals("EVT1", reader.next().id());
        assertEquals("c1", reader.cursor());
        assertTrue(reader.hasNext());
        assertEquals("c1", reader.cursor(), "looking ahead doesn't move it");
        assertEquals("{\"n\":2}", reader.next().text());
        assertFalse(reader.hasNext());
        assertEquals("last", reader.cursor());
        assertThrows(NoSuchElementException.class, reader::next);
    }

    @Test
    void asAStreamItIsTheSame() {
        try (EventReader reader = read(Answer.lines(event(1), event(2), END))) {
            assertEquals(List.of("EVT1", "EVT2"), reader.stream().map(Event::id).toList());
        }
    }

    @Test
    void anAnswerWithoutEndWasCut() {
        EventReader reader = read(Answer.lines(event(1)));
        assertEquals("EVT1", reader.next().id());
        TidemarkException cut = assertThrows(TidemarkException.class, reader::hasNext);
        assertEquals(TidemarkException.CUT, cut.type());
        assertTrue(cut.retryable());
        assertEquals("c1", reader.cursor());
        assertThrows(TidemarkException.class, reader::next, "a failure stays one");
    }

    @Test
    void aBrokenConnectionIsNoEnd() {
        EventReader reader = read(Answer.lines(event(1), event(2)).cutOff());
        assertEquals(2, List.of(reader.next(), reader.next()).size());
        TidemarkException lost = assertThrows(TidemarkException.class, reader::next);
        assertEquals(TidemarkException.CONNECTION_LOST, lost.type());
    }

    @Test
    void anErrorInTheMiddleIsThrownAsTheServerPutIt() {
        String error = "{\"type\":\"error\",\"problem\":\"urn:tidemark:problem:unavailable\",\"status\":503,"
                + "\"title\":\"Unavailable\",\"detail\":\"Redis is away\",\"retryable\":true}";
        EventReader reader = read(Answer.lines(event(1), error).cutOff());
        reader.next();
        TidemarkException failed = assertThrows(TidemarkException.class, reader::next);
        assertEquals("urn:tidemark:problem:unavailable", failed.type());
        assertEquals(503, failed.status());
        assertTrue(failed.retryable());
    }

    @Test
    void anAnswerThatSaysThatItIsNotWholeIsNoEnd() {
        EventReader reader = read(Answer.lines(event(1), "{\"type\":\"end\",\"cursor\":\"c1\",\"complete\":false}"));
        reader.next();
        assertEquals(
                TidemarkException.INCOMPLETE,
                assertThrows(TidemarkException.class, reader::next).type());
    }

    @Test
    void aGapIsAFailureUnlessItIsTaken() {
        EventReader reader = read(Answer.lines(event(1), GAP, event(2), END));
        reader.next();
        assertEquals(
                TidemarkException.GAP,
                assertThrows(TidemarkException.class, reader::next).type());
        List<Gap> gaps = new ArrayList<>();
        List<String> ids = client.read("s", ReadRange.all().takingGaps(gaps::add)).stream()
                .map(Event::id)
                .toList();
        assertEquals(List.of("EVT1", "EVT2"), ids);
        assertEquals(List.of(new Gap("EVTa", "EVTb", "lost", null)), gaps);
    }

    @Test
    void theRangeIsAsked() {
        ReadRange range = ReadRange.all()
                .after("c/1")
                .before("EVT9")
                .from(Instant.EPOCH)
                .to(Instant.ofEpochMilli(1_500))
                .limit(5)
                .newestFirst()
                .view(View.SEALED)
                .takingGaps(gap -> {});
        server.answer(request -> Answer.lines(END));
        client.read("ä", range).close();
        assertEquals(
                "/v1/streams/%C3%A4/events?after=c%2F1&before=EVT9&from=1970-01-01T00%3A00%3A00Z"
                        + "&to=1970-01-01T00%3A00%3A01.500Z&limit=5&order=desc&view=sealed&on_gap=continue",
                server.requests().get(0).uri());
    }

    @Test
    void anExpiredPositionSaysWhatIsThere() {
        Answer expired = Answer.problem(
                410,
                "\"type\":\"urn:tidemark:problem:expired\",\"detail\":\"gone\",\"retryable\":false,\"earliest\":\"EVT5\"");
        server.answer(request -> expired);
        TidemarkException gone = assertThrows(
                TidemarkException.class, () -> client.read("s", ReadRange.all().after("EVT1")));
        assertEquals(410, gone.status());
        assertEquals("EVT5", gone.field("earliest"));
        assertNull(gone.stored(), "a read stores nothing");
    }

    @Test
    void aProxysAnswerIsNoProblemOfOurs() {
        server.answer(request -> new Answer(502, "text/html", "<h1>Bad gateway</h1>", java.util.Map.of(), false));
        TidemarkException bad = assertThrows(TidemarkException.class, () -> client.tail("s", 1));
        assertEquals(502, bad.status());
        assertEquals("about:blank", bad.type());
        assertTrue(bad.retryable());
        assertTrue(server.requests().size() > 1, "it was tried again");
    }
}
