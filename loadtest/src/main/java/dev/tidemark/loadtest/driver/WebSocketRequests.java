package dev.tidemark.loadtest.driver;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/** What a WebSocket client sends. */
final class WebSocketRequests {
    private static final int FIN_AND_TEXT = 0x81;
    private static final int MASKED = 0x80;
    private static final int SHORT_LENGTH_MAX = 125;
    private static final int TWO_BYTES = 126;

    private WebSocketRequests() {}

    static byte[] upgrade(String path, int port) {
        String request = "GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1:" + port
                + "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                + "Sec-WebSocket-Key: dGlkZW1hcmstY29tcGFyZQ==\r\n\r\n";
        return request.getBytes(StandardCharsets.US_ASCII);
    }

    /**
     * One text frame; its mask is zero, so the text stands in it as it is.
     *
     * @param text of at most 65,535 bytes
     */
    static byte[] text(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        ByteArrayOutputStream frame = new ByteArrayOutputStream();
        frame.write(FIN_AND_TEXT);
        if (bytes.length <= SHORT_LENGTH_MAX) {
            frame.write(MASKED | bytes.length);
        } else {
            frame.write(MASKED | TWO_BYTES);
            frame.write(bytes.length >> 8);
            frame.write(bytes.length);
        }
        frame.writeBytes(new byte[4]);
        frame.writeBytes(bytes);
        return frame.toByteArray();
    }
}
