package dev.tidemark.cli;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** One run of a command inside the test: what it is given, and what it printed. */
final class Run {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private InputStream in = new ByteArrayInputStream(new byte[0]);
    private boolean onTerminal;
    private int linesUntilClosed = Integer.MAX_VALUE;

    @CanIgnoreReturnValue
    Run input(String text) {
        in = new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
        return this;
    }

    @CanIgnoreReturnValue
    Run input(InputStream stream) {
        in = stream;
        return this;
    }

    @CanIgnoreReturnValue
    Run onTerminal() {
        onTerminal = true;
        return this;
    }

    /** Whoever reads the output goes away after so many writes. */
    @CanIgnoreReturnValue
    Run outputClosedAfter(int writes) {
        linesUntilClosed = writes;
        return this;
    }

    /** Runs it; the server's URL goes behind the arguments. */
    int at(FakeServer server, String... args) {
        List<String> all = new ArrayList<>(List.of(args));
        all.add("--url");
        all.add(server.url());
        return command(all.toArray(String[]::new));
    }

    int command(String... args) {
        OutputStream guarded = new OutputStream() {
            private int writes;

            @Override
            public void write(int b) throws IOException {
                write(new byte[] {(byte) b}, 0, 1);
            }

            @Override
            public void write(byte[] bytes, int from, int length) throws IOException {
                if (++writes > linesUntilClosed) {
                    throw new IOException("Broken pipe");
                }
                synchronized (out) {
                    out.write(bytes, from, length);
                }
            }
        };
        return Main.run(args, new Terminal(in, guarded, err, false, onTerminal));
    }

    String out() {
        synchronized (out) {
            return out.toString(StandardCharsets.UTF_8);
        }
    }

    byte[] outBytes() {
        return out.toByteArray();
    }

    String err() {
        return err.toString(StandardCharsets.UTF_8);
    }
}
