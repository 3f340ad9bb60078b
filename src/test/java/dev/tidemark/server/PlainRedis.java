package dev.tidemark.server;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The simplest Redis client there can be: what Tidemark leaves in Redis must be readable by any. */
public final class PlainRedis implements AutoCloseable {
    /** A Redis that was just started answers before it has its data. */
    private static final long LOADING_SECONDS_MAX = 20;

    private final Socket socket;
    private final InputStream in;
    private final OutputStream out;

    private PlainRedis(Socket socket) throws IOException {
        this.socket = socket;
        in = new BufferedInputStream(socket.getInputStream());
        out = new BufferedOutputStream(socket.getOutputStream());
    }

    /** Connects to the child Redis of a data directory. */
    public static PlainRedis ofChild(Path data) {
        try {
            return new PlainRedis(new Socket(InetAddress.getLoopbackAddress(), portOfChild(data)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Port of the child Redis of a data directory. */
    static int portOfChild(Path data) {
        try {
            String child = Files.readString(data.resolve("redis").resolve("child"));
            Matcher port = Pattern.compile("port=(\\d+)").matcher(child);
            if (!port.find()) {
                throw new IllegalStateException("no port in " + child);
            }
            return Integer.parseInt(port.group(1));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Sends a command; gives text, number (as text), list of those, or null. An error of Redis throws, except that it is still loading
     * its data: then the command is sent again, for {@link #LOADING_SECONDS_MAX} s.
     */
    public @Nullable Object call(String... words) {
        long untilNs = System.nanoTime() + LOADING_SECONDS_MAX * 1_000_000_000L;
        while (true) {
            try {
                return once(words);
            } catch (IllegalStateException e) {
                boolean loading = String.valueOf(e.getMessage()).startsWith("LOADING ");
                if (!loading || System.nanoTime() > untilNs) {
                    throw e;
                }
                Waiting.ms(50);
            }
        }
    }

    private @Nullable Object once(String... words) {
        try {
            StringBuilder command = new StringBuilder("*" + words.length + "\r\n");
            for (String word : words) {
                int length = word.getBytes(StandardCharsets.UTF_8).length;
                command.append('$').append(length).append("\r\n").append(word).append("\r\n");
            }
            out.write(command.toString().getBytes(StandardCharsets.UTF_8));
            out.flush();
            return reply();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A call that answers with text. */
    public String text(String... words) {
        return String.valueOf(call(words));
    }

    /** A call that answers with a list of texts. */
    public List<String> texts(String... words) {
        if (call(words) instanceof List<?> list) {
            return list.stream().map(String::valueOf).toList();
        }
        throw new IllegalStateException("not a list: " + List.of(words));
    }

    private @Nullable Object reply() throws IOException {
        String line = line();
        String rest = line.substring(1);
        return switch (line.charAt(0)) {
            case '+', ':' -> rest;
            case '-' -> throw new IllegalStateException(rest);
            case '$' -> bulk(Integer.parseInt(rest));
            default -> list(Integer.parseInt(rest));
        };
    }

    private @Nullable String bulk(int length) throws IOException {
        if (length < 0) {
            return null;
        }
        byte[] bytes = in.readNBytes(length);
        if (bytes.length < length || in.read() != '\r' || in.read() != '\n') {
            throw new EOFException("a cut reply");
        }
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private List<@Nullable Object> list(int length) throws IOException {
        List<@Nullable Object> items = new ArrayList<>();
        for (int i = 0; i < length; i++) {
            items.add(reply());
        }
        return items;
    }

    private String line() throws IOException {
        StringBuilder line = new StringBuilder();
        for (int c = in.read(); c != '\r'; c = in.read()) {
            if (c < 0) {
                throw new EOFException("Redis closed the connection");
            }
            line.append((char) c);
        }
        if (in.read() != '\n') {
            throw new IOException("not a reply: " + line);
        }
        return line.toString();
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
