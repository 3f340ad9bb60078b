package dev.tidemark.cli;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/**
 * Where a command reads from and prints to. Bytes go out as they are, text as UTF-8 whatever the locale says. One thread at a
 * time.
 */
final class Terminal {
    /** Nobody reads what we print any more: the command ends quietly. */
    static final class Closed extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Closed() {
            super("output closed", null, false, false);
        }
    }

    private static final int OUT_BUFFER_BYTES = 64 << 10;

    private final InputStream in;
    private final OutputStream out;
    private final PrintStream err;
    private final boolean outIsTerminal;
    private final boolean errIsTerminal;

    /**
     * @param in what the command may read
     * @param out what it prints; {@link IOException} about a pipe means that nobody reads it any more
     * @param err errors, notes and progress
     */
    Terminal(InputStream in, OutputStream out, OutputStream err, boolean outIsTerminal, boolean errIsTerminal) {
        this.in = in;
        this.out = new BufferedOutputStream(out, OUT_BUFFER_BYTES);
        this.err = new PrintStream(err, true, StandardCharsets.UTF_8);
        this.outIsTerminal = outIsTerminal;
        this.errIsTerminal = errIsTerminal;
    }

    /** That of this process. */
    static Terminal ofProcess() {
        return new Terminal(
                new BufferedInputStream(
                        new FileInputStream(FileDescriptor.in)), // whose readNBytes seeks, and fails on a pipe
                new FileOutputStream(FileDescriptor.out),
                new FileOutputStream(FileDescriptor.err),
                isTerminal(1),
                isTerminal(2));
    }

    private static boolean isTerminal(int descriptor) {
        try {
            String target = Files.readSymbolicLink(Path.of("/proc/self/fd/" + descriptor))
                    .toString();
            return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty") || target.equals("/dev/console");
        } catch (IOException | UnsupportedOperationException e) {
            return false; // not Linux: no progress
        }
    }

    InputStream in() {
        return in;
    }

    boolean outIsTerminal() {
        return outIsTerminal;
    }

    boolean errIsTerminal() {
        return errIsTerminal;
    }

    /** Prints bytes to the standard output; they may stay in a buffer until {@link #flush}. */
    void print(byte[] bytes) {
        try {
            out.write(bytes);
        } catch (IOException e) {
            throw failed(e);
        }
    }

    void print(String text) {
        print(text.getBytes(StandardCharsets.UTF_8));
    }

    void flush() {
        try {
            out.flush();
        } catch (IOException e) {
            throw failed(e);
        }
    }

    private static RuntimeException failed(IOException e) {
        String message = String.valueOf(e.getMessage());
        return message.toLowerCase(Locale.ROOT).contains("pipe")
                ? new Closed()
                : CommandFailure.refused("can't write the output: " + message);
    }

    /** One line on the standard error, under our name. */
    void note(String line) {
        clearProgress();
        err.println("tidemark: " + line.replaceAll("\\p{Cntrl}+", " "));
    }

    /** Overwrites the progress line, if the standard error is a terminal. */
    void progress(String line) {
        if (errIsTerminal) {
            err.print("\r\u001b[K" + line);
            err.flush();
        }
    }

    void clearProgress() {
        progress("");
    }

    /** For usage texts, which have several lines. */
    PrintStream err() {
        return err;
    }
}
