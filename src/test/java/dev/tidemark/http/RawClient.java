package dev.tidemark.http;

import io.vertx.core.buffer.Buffer;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** A client that sends exactly what it is told and reads answers byte by byte. */
public final class RawClient implements AutoCloseable {
    public final Socket socket;
    public final InputStream in;

    public RawClient(int port) throws IOException {
        socket = new Socket();
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 5_000);
        socket.setSoTimeout(10_000);
        socket.setTcpNoDelay(true);
        in = new java.io.BufferedInputStream(socket.getInputStream());
    }

    public RawClient send(String text) throws IOException {
        return send(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    public RawClient send(byte[] bytes) throws IOException {
        socket.getOutputStream().write(bytes);
        socket.getOutputStream().flush();
        return this;
    }

    /** One answer, with its body if it has one. */
    public record Answer(int status, Map<String, String> headers, Buffer body) {
        public String text() {
            return body.toString();
        }

        public String header(String name) {
            return headers.getOrDefault(name.toLowerCase(Locale.ROOT), "");
        }
    }

    public Answer answer() throws IOException {
        return answer(true);
    }

    /** @param withBody false for the answer of a HEAD request */
    public Answer answer(boolean withBody) throws IOException {
        String status = line();
        Map<String, String> headers = new TreeMap<>();
        for (String line = line(); !line.isEmpty(); line = line()) {
            int colon = line.indexOf(':');
            headers.put(
                    line.substring(0, colon).toLowerCase(Locale.ROOT),
                    line.substring(colon + 1).trim());
        }
        int code = Integer.parseInt(status.split(" ", -1)[1]);
        byte[] body = new byte[0];
        if (withBody && code != 100 && code != 204 && code != 101) {
            if ("chunked".equals(headers.get("transfer-encoding"))) {
                body = chunks();
            } else if (headers.containsKey("content-length")) {
                body = in.readNBytes(Integer.parseInt(headers.get("content-length")));
            } else {
                body = in.readAllBytes();
            }
        }
        return new Answer(code, headers, Buffer.buffer(body));
    }

    private byte[] chunks() throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        while (true) {
            int size = Integer.parseInt(line(), 16);
            byte[] chunk = in.readNBytes(size);
            if (chunk.length < size) {
                throw new EOFException("cut inside a chunk");
            }
            all.write(chunk);
            line();
            if (size == 0) {
                return all.toByteArray();
            }
        }
    }

    public String line() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        while (true) {
            int b = in.read();
            if (b < 0) {
                throw new EOFException("closed after '" + line + "'");
            }
            if (b == '\n') {
                return line.toString(StandardCharsets.ISO_8859_1);
            }
            if (b != '\r') {
                line.write(b);
            }
        }
    }

    /** Whether the server closes the connection, within the socket's timeout. */
    public boolean isClosedByServer() throws IOException {
        try {
            return in.read() < 0;
        } catch (java.net.SocketException e) {
            return true;
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
