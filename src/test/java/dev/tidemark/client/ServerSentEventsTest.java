package dev.tidemark.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tidemark.client.wire.ServerSentEvents;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Event streams as the HTML standard has them. */
@Tag("client")
class ServerSentEventsTest {
    private static List<String> read(InputStream in) throws IOException {
        ServerSentEvents events = new ServerSentEvents(in, 100);
        List<String> messages = new ArrayList<>();
        for (ServerSentEvents.Message message = events.next(); message != null; message = events.next()) {
            messages.add(message.type() + "=" + new String(message.data(), StandardCharsets.UTF_8));
        }
        return messages;
    }

    private static List<String> read(String text) throws IOException {
        return read(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)));
    }

    @Test
    void aMessageHasATypeOrNoneAndItsData() throws IOException {
        assertEquals(
                List.of("hello={}", "message={\"n\":1}", "message=ä"),
                read("event: hello\nid: c0\ndata: {}\n\nid: c1\ndata: {\"n\":1}\n\ndata: ä\n\n"));
    }

    @Test
    void severalLinesOfDataAreJoinedByLineFeeds() throws IOException {
        assertEquals(List.of("message=a\n\nb"), read("data: a\ndata\ndata:b\n\n"));
    }

    @Test
    void oneSpaceBehindTheColonIsNoPartOfTheValue() throws IOException {
        assertEquals(List.of("message= a:b ", "message="), read("data:  a:b \n\ndata:\n\n"));
    }

    @Test
    void commentsRetryIdAndWhatNobodyKnowsArePassedOver() throws IOException {
        assertEquals(
                List.of("message=1"),
                read("retry: 2000\n\n: keep-alive\n:\nid\nretry: x\nfuture: 1\ndatas: 2\ndata: 1\n Data: 3\n\n"));
    }

    @Test
    void whatHasNoDataIsNoMessageAndLeavesNoType() throws IOException {
        assertEquals(List.of("message=1", "message=2"), read("event: gap\n\ndata: 1\n\n\n\nevent:\ndata: 2\n\n"));
    }

    @Test
    void theLastTypeCounts() throws IOException {
        assertEquals(List.of("b=1"), read("event: a\ndata: 1\nevent: b\n\n"));
    }

    @Test
    void linesMayEndAtCrLf() throws IOException {
        assertEquals(List.of("gap=1"), read("event: gap\r\ndata: 1\r\n\r\n"));
    }

    @Test
    void whatTheStreamEndsInIsDropped() throws IOException {
        assertEquals(List.of("message=1"), read("data: 1\n\ndata: 2\n"));
        assertEquals(List.of(), read("data: 2"));
        assertEquals(List.of(), read(""));
    }

    @Test
    void itIsTheSameHoweverTheBytesCome() throws IOException {
        byte[] bytes = "event: hello\ndata: ä\ndata: b\n\ndata: 2\n\n".getBytes(StandardCharsets.UTF_8);
        InputStream byteByByte = new ByteArrayInputStream(bytes) {
            @Override
            public synchronized int read(byte[] into, int from, int length) {
                return super.read(into, from, Math.min(1, length));
            }
        };
        assertEquals(List.of("hello=ä\nb", "message=2"), read(byteByByte));
    }

    @Test
    void dataThatAreTooLongAreAnError() {
        assertThrows(IOException.class, () -> read("data: 1\n".repeat(60) + "\n"));
    }
}
