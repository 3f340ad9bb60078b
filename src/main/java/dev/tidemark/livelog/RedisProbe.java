package dev.tidemark.livelog;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A few questions to a Redis on this machine, before there is any other connection. Blocking, with timeouts; for worker threads. */
final class RedisProbe implements Closeable {
    private static final int TIMEOUT_MS = 1_000;

    private final Socket socket;
    private final InputStream in;

    /** What listens on a port. */
    enum Answer {
        NOTHING,
        SOMETHING_ELSE,
        LOADING,
        READY
    }

    RedisProbe(int port) throws IOException {
        socket = new Socket();
        try {
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), TIMEOUT_MS);
            socket.setSoTimeout(TIMEOUT_MS);
            in = new BufferedInputStream(socket.getInputStream());
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    /** Whether the Redis of a directory answers on a port. */
    static Answer look(int port, Path directory) {
        try (RedisProbe probe = new RedisProbe(port)) {
            List<String> dir = probe.ask("CONFIG", "GET", "dir");
            if (dir.size() != 2 || !isSame(dir.get(1), directory)) {
                return Answer.SOMETHING_ELSE;
            }
            return probe.ask("PING").equals(List.of("PONG")) ? Answer.READY : Answer.LOADING;
        } catch (IOException e) {
            return Answer.NOTHING;
        }
    }

    private static boolean isSame(String path, Path directory) {
        try {
            return Path.of(path).toRealPath().equals(directory.toRealPath());
        } catch (IOException | java.nio.file.InvalidPathException e) {
            return false;
        }
    }

    /** The process id of the Redis on a port; -1 if it doesn't say. */
    static long processId(int port) throws IOException {
        try (RedisProbe probe = new RedisProbe(port)) {
            return String.join("", probe.ask("INFO", "server"))
                    .lines()
                    .filter(line -> line.matches("process_id:\\d{1,10}"))
                    .mapToLong(line -> Long.parseLong(line.substring(line.indexOf(':') + 1)))
                    .findFirst()
                    .orElse(-1);
        }
    }

    /**
     * Sends a command.
     *
     * @return the parts of the answer as text; an error is one part that begins with a minus
     */
    List<String> ask(String... command) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes(("*" + command.length + "\r\n").getBytes(StandardCharsets.US_ASCII));
        for (String part : command) {
            byte[] bytes = part.getBytes(StandardCharsets.UTF_8);
            out.writeBytes(("$" + bytes.length + "\r\n").getBytes(StandardCharsets.US_ASCII));
            out.writeBytes(bytes);
            out.writeBytes(new byte[] {'\r', '\n'});
        }
        socket.getOutputStream().write(out.toByteArray());
        List<String> answer = new ArrayList<>();
        read(answer);
        return answer;
    }

    private void read(List<String> answer) throws IOException {
        String line = line();
        String rest = line.isEmpty() ? "" : line.substring(1);
        switch (line.isEmpty() ? ' ' : line.charAt(0)) {
            case '-' -> answer.add(line);
            case '+', ':' -> answer.add(rest);
            case '$' -> {
                String text = bulk(length(rest));
                if (text != null) {
                    answer.add(text);
                }
            }
            case '*' -> {
                for (int i = length(rest); i > 0; i--) {
                    read(answer);
                }
            }
            default -> throw new IOException("not an answer of Redis");
        }
    }

    private static int length(String text) throws IOException {
        if (!text.matches("-1|\\d{1,7}")) {
            throw new IOException("not an answer of Redis");
        }
        return Integer.parseInt(text);
    }

    private @Nullable String bulk(int length) throws IOException {
        if (length < 0) {
            return null;
        }
        byte[] bytes = in.readNBytes(length + 2);
        if (bytes.length < length + 2) {
            throw new EOFException();
        }
        return new String(bytes, 0, length, StandardCharsets.UTF_8);
    }

    private String line() throws IOException {
        StringBuilder line = new StringBuilder();
        int c = in.read();
        while (c != '\n') {
            if (c < 0 || line.length() > 4_096) {
                throw new EOFException();
            }
            if (c != '\r') {
                line.append((char) c);
            }
            c = in.read();
        }
        return line.toString();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
