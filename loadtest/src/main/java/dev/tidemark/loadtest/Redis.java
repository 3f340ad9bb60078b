package dev.tidemark.loadtest;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** One blocking connection to Redis on loopback. One thread. */
public final class Redis implements AutoCloseable {
    private static final int READ_TIMEOUT_MS = 15_000;

    private final Socket socket;
    private final OutputStream out;
    private final ByteReader in;

    public Redis(int port) throws IOException {
        socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(READ_TIMEOUT_MS);
        out = socket.getOutputStream();
        in = new ByteReader(socket.getInputStream());
    }

    /** A command as RESP, to be sent as often as wanted. */
    public static byte[] command(String... words) {
        ByteArrayOutputStream command = new ByteArrayOutputStream();
        command.writeBytes(("*" + words.length + "\r\n").getBytes(StandardCharsets.US_ASCII));
        for (String word : words) {
            byte[] bytes = word.getBytes(StandardCharsets.UTF_8);
            command.writeBytes(("$" + bytes.length + "\r\n").getBytes(StandardCharsets.US_ASCII));
            command.writeBytes(bytes);
            command.writeBytes(new byte[] {'\r', '\n'});
        }
        return command.toByteArray();
    }

    /** Sends bytes that hold {@code count} commands; returns the reply of the last one. */
    public Object send(byte[] commands, int count) throws IOException {
        out.write(commands);
        Object reply = "";
        for (int i = 0; i < count; i++) {
            reply = reply();
        }
        return reply;
    }

    public Object call(String... words) throws IOException {
        return send(command(words), 1);
    }

    /** A String, Long, or List of these; nil is an empty string. */
    private Object reply() throws IOException {
        String head = in.line();
        String rest = head.substring(1);
        return switch (head.charAt(0)) {
            case '+' -> rest;
            case ':' -> Long.valueOf(rest);
            case '$' -> bulk(Integer.parseInt(rest));
            case '*' -> list(Integer.parseInt(rest));
            default -> throw new IOException("Redis says " + rest);
        };
    }

    private String bulk(int length) throws IOException {
        if (length < 0) {
            return "";
        }
        String text = in.text(length);
        String unused = in.line();
        return text;
    }

    private List<Object> list(int count) throws IOException {
        List<Object> list = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            list.add(reply());
        }
        return list;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
