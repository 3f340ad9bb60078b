package dev.tidemark.cli;

import dev.tidemark.client.wire.LineReader;
import dev.tidemark.event.Clock;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code append STREAM [FILE|-]}: lines of a file, or of what is piped in, become events. */
@Command(name = "append", description = "Append events: one a line (NDJSON).")
final class AppendCommand implements Callable<Integer> {
    private static final String ENVELOPES = "application/vnd.tidemark.events+ndjson";
    private static final String STANDARD_INPUT = "-";
    private static final int LINE_BYTES_MAX = 64 << 20;
    private static final int WHOLE_BYTES_MAX = 256 << 20;
    /** The server answers within ten seconds, whatever it waits for; the rest is for slow networks. */
    private static final AppendRun.Patience PATIENCE = new AppendRun.Patience(20_000, 60_000);

    private final Terminal terminal;

    @Mixin
    private ServerOptions server = new ServerOptions();

    @Option(names = "--envelopes", description = "A line is an envelope: {\"data\": …, \"time\": …, …}.")
    private boolean envelopes;

    @Option(names = "--whole", description = "The input is one event.")
    private boolean whole;

    @Option(
            names = "--type",
            paramLabel = "TYPE",
            description = "Content type of the event, with --whole (default: application/json).")
    private @Nullable String type;

    @Parameters(index = "0", paramLabel = "STREAM", description = "Name of the stream.")
    private String stream = "";

    @Parameters(
            index = "1",
            arity = "0..1",
            paramLabel = "FILE",
            description = "File to read; - or nothing: the standard input.")
    private String file = STANDARD_INPUT;

    AppendCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        checkOptions();
        AppendRun run = new AppendRun(
                new AppendRun.Setup(server.api(), terminal, Clock.system(), stream, contentType(), PATIENCE));
        Thread atInterrupt = new Thread(() -> terminal.note("stopped. " + run.report()), "interrupted");
        Runtime.getRuntime().addShutdownHook(atInterrupt);
        try {
            send(run);
        } finally {
            removeHook(atInterrupt);
            terminal.clearProgress();
        }
        terminal.print(stream + ": " + run.summary() + "\n");
        terminal.flush();
        return ExitCode.DONE;
    }

    private static void removeHook(Thread hook) {
        try {
            boolean removed = Runtime.getRuntime().removeShutdownHook(hook);
            assert removed;
        } catch (IllegalStateException e) {
            // the process is being stopped: the hook reports
        }
    }

    private void checkOptions() {
        String path = Api.streamPath(stream, "");
        assert !path.isEmpty();
        if (whole && envelopes) {
            throw CommandFailure.usage("--whole and --envelopes exclude each other");
        }
        if (type != null && !whole) {
            throw CommandFailure.usage("--type needs --whole: lines are JSON");
        }
        if (type != null && isLineFormat(type)) {
            throw CommandFailure.usage("--type: " + type + " is a format of many events; leave out --whole");
        }
    }

    private static boolean isLineFormat(String type) {
        String lower = type.toLowerCase(Locale.ROOT);
        return lower.contains("ndjson") || lower.startsWith("application/jsonl");
    }

    private String contentType() {
        if (whole) {
            return type == null ? "application/json" : type;
        }
        return envelopes ? ENVELOPES : Api.NDJSON;
    }

    private void send(AppendRun run) {
        try (InputStream input = open()) {
            if (!whole) {
                run.send(new LineReader(input, LINE_BYTES_MAX), size());
                return;
            }
            byte[] body = input.readNBytes(WHOLE_BYTES_MAX + 1);
            if (body.length > WHOLE_BYTES_MAX) {
                throw CommandFailure.refused("the input is larger than any event can be");
            }
            run.sendWhole(body);
        } catch (NoSuchFileException e) {
            throw CommandFailure.usage("there is no file " + file);
        } catch (IOException e) {
            String input = file.equals(STANDARD_INPUT) ? "the standard input" : file;
            throw CommandFailure.refused("can't read " + input + ": " + e.getMessage() + ". " + run.report());
        }
    }

    private InputStream open() throws IOException {
        return file.equals(STANDARD_INPUT) ? terminal.in() : Files.newInputStream(path());
    }

    private long size() throws IOException {
        return file.equals(STANDARD_INPUT) ? 0 : Files.size(path());
    }

    private Path path() {
        Path path;
        try {
            path = Path.of(file);
        } catch (InvalidPathException e) {
            throw CommandFailure.usage("this locale can't name the file " + file + "; set LC_ALL=C.UTF-8");
        }
        if (Files.isDirectory(path)) {
            throw CommandFailure.usage(file + " is a directory");
        }
        return path;
    }
}
