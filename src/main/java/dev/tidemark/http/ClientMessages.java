package dev.tidemark.http;

import dev.tidemark.event.Problem;
import dev.tidemark.event.Utf8;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.ServerWebSocket;
import io.vertx.core.http.WebSocketFrame;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import java.util.Map;

/**
 * What a client sends on its WebSocket: joins fragments, obeys {@code pause} and {@code resume}, and answers anything else on that
 * socket only. Used on the connection's event loop.
 */
final class ClientMessages {
    private static final short PROTOCOL_ERROR = 1002;
    private static final short UNACCEPTABLE = 1003;
    private static final short INVALID_TEXT = 1007;
    private static final short POLICY = 1008;
    private static final short TOO_BIG = 1009;
    private static final int COMPLAINTS_MAX = 100;

    private final WebSocketOutput output;
    private final FollowSession session;
    private final int bytesMax;

    private Buffer message = Buffer.buffer();
    private int complaints;
    private boolean over;

    ClientMessages(WebSocketOutput output, FollowSession session, int bytesMax) {
        this.output = output;
        this.session = session;
        this.bytesMax = bytesMax;
    }

    void listenTo(ServerWebSocket socket) {
        socket.frameHandler(this::frame);
        output.onMalformed(this::malformed);
    }

    private void frame(WebSocketFrame frame) {
        if (over || !(frame.isText() || frame.isBinary() || frame.isContinuation())) {
            return;
        }
        if (frame.isBinary()) {
            end(UNACCEPTABLE, "binary messages aren't understood; send text");
            return;
        }
        Buffer data = frame.binaryData();
        if (message.length() + data.length() > bytesMax) {
            end(TOO_BIG, "a message may have at most " + bytesMax + " bytes");
            return;
        }
        message.appendBuffer(data);
        if (frame.isFinal()) {
            byte[] text = message.getBytes();
            message = Buffer.buffer();
            text(text);
        }
    }

    private void text(byte[] text) {
        if (!Utf8.isValid(text, 0, text.length)) {
            end(INVALID_TEXT, "a text message must be valid UTF-8");
            return;
        }
        switch (type(text)) {
            case "pause" -> session.pause();
            case "resume" -> session.resume();
            default -> complain();
        }
    }

    /** The type of a message; empty if it is no message. */
    private static String type(byte[] text) {
        try {
            Map<String, Object> fields = new JsonObject(Buffer.buffer(text)).getMap();
            return fields.get("type") instanceof String type ? type : "";
        } catch (DecodeException | ClassCastException e) {
            return "";
        }
    }

    private void complain() {
        complaints++;
        if (complaints > COMPLAINTS_MAX || !output.writable()) {
            end(POLICY, "too many messages that aren't understood");
            return;
        }
        output.complain(ProblemJson.of(Problem.badRequest(
                "message not understood; allowed are {\"type\":\"pause\"} and {\"type\":\"resume\"}")));
    }

    private void malformed(int code) {
        boolean told = code == TOO_BIG || code == INVALID_TEXT;
        end(told ? (short) code : PROTOCOL_ERROR, "the frame is malformed or longer than " + bytesMax + " bytes");
    }

    private void end(short code, String reason) {
        if (!over) {
            over = true;
            session.gone();
            output.complain(ProblemJson.of(Problem.badRequest(reason)));
            output.close(code, reason);
        }
    }
}
