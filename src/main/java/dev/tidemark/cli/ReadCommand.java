package dev.tidemark.cli;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code read STREAM}: a range of a stream, from archive and live log alike. */
@Command(name = "read", description = "Print a range of a stream, by default all of it.")
final class ReadCommand implements Callable<Integer> {
    private final Terminal terminal;

    @Mixin
    private ServerOptions server = new ServerOptions();

    @Option(names = "--after", paramLabel = "CURSOR", description = "Only what lies after this cursor or id.")
    private @Nullable String after;

    @Option(names = "--from", paramLabel = "TIME", description = "From this time on (RFC 3339 or Unix ms).")
    private @Nullable String from;

    @Option(names = "--to", paramLabel = "TIME", description = "Up to this time, which itself is left out.")
    private @Nullable String to;

    @Option(names = "--limit", paramLabel = "N", description = "At most so many events (default: no limit).")
    private @Nullable String limit;

    @Option(names = "--reverse", description = "Newest first.")
    private boolean reverse;

    @Option(
            names = "--output",
            paramLabel = "FORM",
            description = "json (the event), data (its payload) or pretty (default: ${DEFAULT-VALUE}).",
            defaultValue = "json")
    private EventForm output = EventForm.json;

    @Parameters(index = "0", paramLabel = "STREAM", description = "Name of the stream.")
    private String stream = "";

    ReadCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        Map<String, String> query = new LinkedHashMap<>();
        putIfGiven(query, "after", after);
        putIfGiven(query, "from", from);
        putIfGiven(query, "to", to);
        if (limit != null) {
            query.put("limit", Counts.check("--limit", limit));
        }
        if (reverse) {
            query.put("order", "desc");
        }
        String path = Api.withQuery(Api.streamPath(stream, "/events"), query);
        new EventPrinter(terminal, output).printAnswer(server.api().stream(path));
        return ExitCode.DONE;
    }

    private static void putIfGiven(Map<String, String> query, String name, @Nullable String value) {
        if (value != null) {
            query.put(name, value);
        }
    }
}
