package dev.tidemark.loadtest;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** One keep-alive HTTP/1.1 connection to loopback; blocking, so that the driver costs little of the shared cores. One thread. */
public final class Http implements AutoCloseable {
    private static final int READ_TIMEOUT_MS = 15_000;

    private final Socket socket;
    private final OutputStream out;
    private final ByteReader in;

    /** A status and the text that came with it. */
    public record Answer(int status, String text) {}

    public Http(int port) throws IOException {
        socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(READ_TIMEOUT_MS);
        out = socket.getOutputStream();
        in = new ByteReader(socket.getInputStream());
    }

    /** The bytes of a request, to be sent as often as wanted. */
    public static byte[] request(String method, String path, String type, byte[] body) {
        String head = method + " " + path + " HTTP/1.1\r\nHost: localhost\r\n"
                + (body.length == 0 ? "" : "Content-Type: " + type + "\r\nContent-Length: " + body.length + "\r\n")
                + "\r\n";
        ByteArrayOutputStream request = new ByteArrayOutputStream();
        request.writeBytes(head.getBytes(StandardCharsets.US_ASCII));
        request.writeBytes(body);
        return request.toByteArray();
    }

    public static byte[] get(String path) {
        return request("GET", path, "", new byte[0]);
    }

    public Answer send(byte[] request) throws IOException {
        out.write(request);
        int status = Integer.parseInt(in.line().split(" ", 3)[1]);
        int length = 0;
        boolean chunked = false;
        for (String line = in.line(); !line.isEmpty(); line = in.line()) {
            String header = line.toLowerCase(Locale.ROOT);
            if (header.startsWith("content-length:")) {
                length = Integer.parseInt(
                        header.substring("content-length:".length()).trim());
            } else if (header.startsWith("transfer-encoding:")) {
                chunked = header.contains("chunked");
            }
        }
        return new Answer(status, chunked ? chunks() : in.text(length));
    }

    private String chunks() throws IOException {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        while (true) {
            int length = Integer.parseInt(in.line().split(";", 2)[0].trim(), 16);
            body.writeBytes(in.bytes(length));
            String unused = in.line();
            if (length == 0) {
                return body.toString(StandardCharsets.UTF_8);
            }
        }
    }

    /** Sends and insists on a status. */
    public Answer expect(int status, byte[] request) throws IOException {
        Answer answer = send(request);
        if (answer.status != status) {
            throw new IOException("status " + answer.status + " instead of " + status + ": " + answer.text());
        }
        return answer;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
