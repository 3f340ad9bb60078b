package dev.tidemark.loadtest.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Each answer is counted once, wherever the bytes are cut. */
class AnswersTest {
    private static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    /** Gives the bytes whole, one by one, and in two parts cut at every place. */
    private static void countsHoweverCut(int expected, Supplier<? extends Answers> reader, String text)
            throws IOException {
        assertEquals(expected, reader.get().completed(bytes(text)));
        Answers single = reader.get();
        int counted = 0;
        for (int i = 0; i < text.length(); i++) {
            counted += single.completed(bytes(text.substring(i, i + 1)));
        }
        assertEquals(expected, counted, "one byte at a time");
        for (int cut = 0; cut <= text.length(); cut++) {
            Answers answers = reader.get();
            int first = answers.completed(bytes(text.substring(0, cut)));
            assertEquals(expected, first + answers.completed(bytes(text.substring(cut))), "cut at " + cut);
        }
    }

    @Test
    void httpWithALengthInChunksAndWithoutABody() throws IOException {
        String text = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
                + "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\nTRANSFER-ENCODING: chunked\r\n\r\n"
                + "5\r\nhello\r\n1A;x=y\r\nabcdefghijklmnopqrstuvwxyz\r\n0\r\n\r\n"
                + "HTTP/1.1 200 OK\r\ncontent-length:0\r\n\r\n"
                + "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n\n\r\n0\r\nTrailer: t\r\n\r\n"
                + "HTTP/1.1 200 OK\r\nServer: none\r\n\r\n";
        countsHoweverCut(5, () -> new HttpAnswers(200), text);
    }

    @Test
    void httpCountsInBodiesAcrossChunks() throws IOException {
        String text =
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n<id\r\n6\r\n>...<i\r\n2\r\nd>\r\n0\r\n\r\n";
        for (int cut = 0; cut <= text.length(); cut++) {
            HttpAnswers answers = new HttpAnswers(200, "<id>", 2);
            int completed = answers.completed(bytes(text.substring(0, cut)));
            completed += answers.completed(bytes(text.substring(cut)));
            assertEquals(1, completed);
            assertEquals(2, answers.counted());
            assertEquals(11, answers.bodyBytes());
        }
    }

    @Test
    void httpSaysWhichStatusCameInstead() {
        String text = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\nfull";
        IOException refused = assertThrows(IOException.class, () -> new HttpAnswers(201).completed(bytes(text)));
        assertTrue(String.valueOf(refused.getMessage()).contains("503"));
        assertTrue(String.valueOf(refused.getMessage()).contains("full"));
    }

    @Test
    void redisRepliesOfEveryKind() throws IOException {
        String replies = "+OK :42 $5 he,o $-1 *-1 *0 $0 _ " + "*2 *2 $3 1-0 *2 $4 data $2 {} *2 $3 0-1 *0 ";
        String text = replies.replace(" ", "\r\n").replace(",", "\r\n").replace("_", "");
        countsHoweverCut(8, RespAnswers::new, text);
    }

    @Test
    void redisErrorsAreErrors() {
        assertThrows(IOException.class, () -> new RespAnswers().completed(bytes("-OOM command not allowed\r\n")));
    }

    @Test
    void natsMessagesAmongOtherLines() throws IOException {
        String lines = "INFO {\"id\":\"x\"};PING;MSG _INBOX.1 1 27;{\"stream\":\"MSG \", \"seq\":12};+OK;"
                + "MSG s 1 reply 0;;MSG s 1 2;_;";
        String text = lines.replace(";", "\r\n").replace("_\r", "\r\n\r");
        countsHoweverCut(3, NatsAnswers::new, text);
    }

    @Test
    void natsRefusalsAreErrors() {
        String refusal = "MSG i 1 30\r\n{\"error\":{\"code\":503,\"n\":1}}  \r\n";
        assertThrows(IOException.class, () -> new NatsAnswers().completed(bytes(refusal)));
        assertThrows(IOException.class, () -> new NatsAnswers().completed(bytes("-ERR 'no'\r\n")));
    }

    @Test
    void webSocketMessagesInFramesOfEveryLength() throws IOException {
        String event = "\"id\":\"EVT1\"" + "x".repeat(20);
        String text = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n"
                + frame(1, "{\"type\":\"hello\"}")
                + frame(1, event)
                + frame(9, "")
                + frame(1, (event + "y".repeat(200)).repeat(2))
                + frame(1, "z".repeat(70_000) + event);
        WebSocketMessages whole = new WebSocketMessages("\"id\":\"EVT", 20, "hello");
        assertEquals(4, whole.completed(bytes(text)));
        assertTrue(whole.isGreeted());
        WebSocketMessages single = new WebSocketMessages("\"id\":\"EVT", 20, "hello");
        int counted = 0;
        for (int i = 0; i < text.length(); i++) {
            counted += single.completed(bytes(text.substring(i, i + 1)));
        }
        assertEquals(4, counted);
    }

    @Test
    void webSocketSaysWhyItWasClosed() throws IOException {
        WebSocketMessages messages = new WebSocketMessages("x", 0, "x");
        int none = messages.completed(bytes("HTTP/1.1 101 OK\r\n\r\n"));
        assertEquals(0, none);
        IOException closed = assertThrows(IOException.class, () -> messages.completed(bytes(frame(8, "..too slow"))));
        assertTrue(String.valueOf(closed.getMessage()).contains("too slow"));
    }

    private static String frame(int opcode, String payload) {
        int length = payload.length();
        String header;
        if (length < 126) {
            header = String.valueOf((char) length);
        } else if (length < 65_536) {
            header = new String(new char[] {126, (char) (length >> 8), (char) (length & 0xff)});
        } else {
            header = new String(new char[] {
                127, 0, 0, 0, 0, 0, (char) (length >> 16), (char) (length >> 8 & 0xff), (char) (length & 0xff)
            });
        }
        return (char) (0x80 | opcode) + header + payload;
    }

    @Test
    void numbersAreFoundHoweverTheBytesAreCut() {
        String text = "..{\"t{\"t\":\"00042\"..{\"t\":\"99999\"}";
        for (int cut = 0; cut <= text.length(); cut++) {
            List<Long> found = new ArrayList<>();
            NumberedArrivals arrivals = new NumberedArrivals("{\"t\":\"", 5, found::add);
            arrivals.in(bytes(text.substring(0, cut)));
            arrivals.in(bytes(text.substring(cut)));
            assertEquals(List.of(42L, 99_999L), found);
        }
    }

    @Test
    void aTextFrameIsMaskedWithZeros() {
        byte[] frame = WebSocketRequests.text("hi");
        assertEquals(8, frame.length);
        assertEquals((byte) 0x82, frame[1]);
        assertEquals('h', frame[6]);
        byte[] longer = WebSocketRequests.text("x".repeat(300));
        assertEquals(308, longer.length);
        assertEquals((byte) 0xfe, longer[1]);
        assertEquals(1, longer[2]);
        assertEquals(44, longer[3]);
    }
}
