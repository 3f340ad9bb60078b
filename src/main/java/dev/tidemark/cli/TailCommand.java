package dev.tidemark.cli;

import dev.tidemark.client.Follow;
import dev.tidemark.client.View;
import dev.tidemark.event.Limits;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code tail STREAM}: the newest events; with {@code -f} also those that come. */
@Command(name = "tail", description = "Print the newest events of a stream, oldest of them first.")
final class TailCommand implements Callable<Integer> {
    /** What a view shows. */
    enum ViewName {
        live(View.LIVE),
        sealed(View.SEALED);

        private final View view;

        ViewName(View view) {
            this.view = view;
        }
    }

    private final Terminal terminal;

    @Mixin
    private ServerOptions server = new ServerOptions();

    @Option(
            names = "-n",
            paramLabel = "N",
            description = "How many (default: ${DEFAULT-VALUE}).",
            defaultValue = "" + Limits.TAIL_DEFAULT)
    private String count = "";

    @Option(
            names = {"-f", "--follow"},
            description = "Then print what comes, until stopped.")
    private boolean follow;

    @Option(
            names = "--view",
            paramLabel = "VIEW",
            description = "live (all that is acknowledged) or sealed (only what is final).")
    private @Nullable ViewName view;

    @Option(
            names = "--output",
            paramLabel = "FORM",
            description = "json (the event), data (its payload) or pretty (default: ${DEFAULT-VALUE}).",
            defaultValue = "json")
    private EventForm output = EventForm.json;

    @Parameters(index = "0", paramLabel = "STREAM", description = "Name of the stream.")
    private String stream = "";

    TailCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        String n = Counts.check("-n", count);
        String path = Api.streamPath(stream, "/tail");
        EventPrinter printer = new EventPrinter(terminal, output);
        if (follow) {
            Follow from = Follow.tail((int) Math.min(Long.parseLong(n), Integer.MAX_VALUE));
            return new FollowRun(server.api(), terminal, printer)
                    .run(stream, view == null ? from : from.view(view.view));
        }
        Map<String, String> query = new LinkedHashMap<>();
        if (view != null) {
            query.put("view", view.name());
        }
        query.put("n", n);
        printer.printAnswer(server.api().stream(Api.withQuery(path, query)));
        return ExitCode.DONE;
    }
}
