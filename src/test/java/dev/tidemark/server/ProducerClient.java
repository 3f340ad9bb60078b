package dev.tidemark.server;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.function.IntSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A producer as a service would have it: sends its batches one after the other with its own id and rising numbers, and each of them again,
 * on a new connection, until it is answered. It gives up at an answer that says that trying again is of no use.
 */
final class ProducerClient {
    private static final Pattern LENGTH = Pattern.compile("(?i)\r\ncontent-length: *(\\d+)\r\n");
    private static final long GIVE_UP_NS = 60_000_000_000L;

    private final String id;
    private final String stream;
    private final IntSupplier port;
    private Socket socket;
    private int retries;
    private int duplicates;

    ProducerClient(String id, String stream, IntSupplier port) {
        this.id = id;
        this.stream = stream;
        this.port = port;
        socket = new Socket();
    }

    /** Tries beyond the first. */
    int retries() {
        return retries;
    }

    /** Batches that were stored by a try whose answer was lost. */
    int duplicates() {
        return duplicates;
    }

    /** Sends one batch of lines; returns when it is acknowledged. */
    void send(long seq, String body) throws InterruptedException {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        String head = "POST " + Api.stream(stream) + "/events HTTP/1.1\r\nHost: localhost\r\n"
                + "Content-Type: application/x-ndjson\r\nContent-Length: " + bytes.length + "\r\nProducer-Id: " + id
                + "\r\nProducer-Epoch: 0\r\nProducer-Seq: " + seq + "\r\n\r\n";
        long since = System.nanoTime();
        while (true) {
            try {
                String answer = exchange(head, bytes);
                int status = Integer.parseInt(answer.substring(9, 12));
                if (status == 200 || status == 201) {
                    duplicates += status == 200 ? 1 : 0;
                    return;
                }
                if (status != 503) {
                    throw new AssertionError(id + " seq " + seq + ": " + answer);
                }
            } catch (IOException lost) {
                drop();
            }
            if (System.nanoTime() - since > GIVE_UP_NS) {
                throw new AssertionError(id + " seq " + seq + " isn't answered");
            }
            retries++;
            Thread.sleep(5);
        }
    }

    private String exchange(String head, byte[] body) throws IOException {
        if (!socket.isConnected() || socket.isClosed()) {
            socket = new Socket(InetAddress.getLoopbackAddress(), port.getAsInt());
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(20_000);
        }
        byte[] start = head.getBytes(StandardCharsets.US_ASCII);
        byte[] request = new byte[start.length + body.length];
        System.arraycopy(start, 0, request, 0, start.length);
        System.arraycopy(body, 0, request, start.length, body.length);
        socket.getOutputStream().write(request);
        return read(socket.getInputStream());
    }

    private static String read(InputStream in) throws IOException {
        ByteArrayOutputStream answer = new ByteArrayOutputStream();
        int wanted = Integer.MAX_VALUE;
        byte[] buffer = new byte[4_096];
        while (answer.size() < wanted) {
            int length = in.read(buffer);
            if (length < 0) {
                throw new IOException("the connection was closed within the answer");
            }
            answer.write(buffer, 0, length);
            String text = answer.toString(StandardCharsets.ISO_8859_1);
            int end = text.indexOf("\r\n\r\n");
            Matcher declared = LENGTH.matcher(text);
            if (end >= 0 && declared.find()) {
                wanted = end + 4 + Integer.parseInt(declared.group(1));
            }
        }
        return answer.toString(StandardCharsets.UTF_8);
    }

    void drop() {
        try {
            socket.close();
        } catch (IOException alreadyGone) {
            // It is gone.
        }
    }
}
