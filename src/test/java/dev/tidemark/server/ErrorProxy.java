package dev.tidemark.server;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * A proxy in front of Redis that can answer for it. Fault model: from some moment on every command, of connections that stand and of new
 * ones, is answered with one error and doesn't reach Redis; later all commands reach it again. Each command gets one answer, in order.
 */
final class ErrorProxy extends TcpProxy {
    private final int target;
    private volatile @Nullable String error;

    ErrorProxy(int target) throws IOException {
        this.target = target;
        start();
    }

    @Override
    int target() {
        return target;
    }

    /** Answers with this error from now on; null: Redis answers again. */
    void answer(@Nullable String text) {
        error = text;
    }

    /** One command, one answer: nothing is pipelined through to Redis, so that an error never overtakes an answer. */
    @Override
    void serve(Socket client, Socket server) throws IOException {
        InputStream requests = new BufferedInputStream(client.getInputStream(), 64 << 10);
        InputStream answers = new BufferedInputStream(server.getInputStream(), 64 << 10);
        OutputStream back = client.getOutputStream();
        OutputStream on = server.getOutputStream();
        while (true) {
            java.io.ByteArrayOutputStream command = new java.io.ByteArrayOutputStream();
            copyValue(requests, command);
            String text = error;
            java.io.ByteArrayOutputStream answer = new java.io.ByteArrayOutputStream();
            if (text == null) {
                command.writeTo(on);
                copyValue(answers, answer);
            } else {
                answer.writeBytes(("-" + text + "\r\n").getBytes(StandardCharsets.UTF_8));
            }
            answer.writeTo(back);
        }
    }

    private static void copyValue(InputStream in, java.io.ByteArrayOutputStream out) throws IOException {
        String line = line(in);
        out.writeBytes((line + "\r\n").getBytes(StandardCharsets.ISO_8859_1));
        switch (line.charAt(0)) {
            case '$' -> {
                int length = Integer.parseInt(line.substring(1));
                if (length >= 0) {
                    byte[] bytes = in.readNBytes(length + 2);
                    if (bytes.length < length + 2) {
                        throw new EOFException();
                    }
                    out.writeBytes(bytes);
                }
            }
            case '*' -> {
                for (int i = Integer.parseInt(line.substring(1)); i > 0; i--) {
                    copyValue(in, out);
                }
            }
            default -> {}
        }
    }

    private static String line(InputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int c = in.read(); c != '\n'; c = in.read()) {
            if (c < 0) {
                throw new EOFException();
            }
            if (c != '\r') {
                line.append((char) c);
            }
        }
        if (line.isEmpty()) {
            throw new EOFException("not a value of Redis");
        }
        return line.toString();
    }
}
