package dev.tidemark.cli;

import dev.tidemark.client.wire.JsonFields;
import dev.tidemark.client.wire.LineReader;
import dev.tidemark.event.CheckProgress;
import dev.tidemark.event.EventId;
import dev.tidemark.event.Finding;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.server.ConfigurationException;
import dev.tidemark.server.OfflineVerify;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code verify}: whether archives are whole, of a data directory that no server has, or through a running server. */
@Command(
        name = "verify",
        description = {
            "Check archives: every event's checksum, order, and that nothing is missing.",
            "With --data: the files of a stopped server, or a copy of them. Nothing is written, and no server can start meanwhile.",
            "Else: by the server at --url, while it runs, with what its live log still holds."
        })
final class VerifyCommand implements Callable<Integer> {
    private static final int LINE_BYTES_MAX = 1 << 20;
    private static final byte[] NOTHING = {};

    private final Terminal terminal;

    @Spec
    private @Nullable CommandSpec spec;

    @Mixin
    private ServerOptions server = new ServerOptions();

    @Option(names = "--data", paramLabel = "DIR", description = "Data directory of a server that doesn't run.")
    private @Nullable Path data;

    @Parameters(index = "0", arity = "0..1", paramLabel = "STREAM", description = "Only this stream (default: all).")
    private @Nullable String stream;

    VerifyCommand(Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        Path directory = data;
        VerifyReport report = new VerifyReport(terminal);
        if (directory == null) {
            online(report);
        } else {
            boolean both =
                    Objects.requireNonNull(spec).commandLine().getParseResult().hasMatchedOption("--url");
            if (both) {
                throw CommandFailure.usage("--data and --url exclude each other");
            }
            offline(directory, report);
        }
        report.endAll();
        return report.damages() == 0 ? ExitCode.DONE : ExitCode.REFUSED;
    }

    // ---- offline

    private void offline(Path directory, VerifyReport report) {
        try (OfflineVerify verify = OfflineVerify.open(directory)) {
            List<String> all = verify.streams();
            String only = stream;
            if (only != null && !all.contains(only)) {
                throw CommandFailure.refused("there is no stream '" + Problem.quote(only) + "' in " + directory);
            }
            if (only == null) {
                verify.badFolders().forEach(bad -> print(bad, report));
            }
            for (String name : only == null ? all : List.of(only)) {
                report.begin(name);
                verify.begin(name);
                CheckProgress progress;
                do {
                    progress = verify.next();
                    progress.findings().forEach(finding -> print(finding, report));
                    report.progress(progress.bytes(), progress.bytesTotal(), progress.events());
                } while (!progress.end());
                report.end(
                        progress.files(),
                        progress.events(),
                        progress.bytes(),
                        id(progress.first()),
                        id(progress.last()),
                        -1);
            }
        } catch (ConfigurationException e) {
            throw CommandFailure.usage("--data: " + e.getMessage());
        }
    }

    private static @Nullable String id(Position position) {
        return EventId.fits(position) ? EventId.of(position).toString() : null;
    }

    private static void print(Finding finding, VerifyReport report) {
        report.finding(finding.isDamage(), finding.kind().text(), finding.file(), finding.eventId(), finding.what());
    }

    // ---- online

    private void online(VerifyReport report) {
        Api api = server.api();
        String only = stream;
        for (String name : only == null ? names(api) : List.of(only)) {
            report.begin(name);
            read(api.post(Api.streamPath(name, "/verify")), api, report);
        }
    }

    private static List<String> names(Api api) {
        List<String> names = new ArrayList<>();
        String after = null;
        do {
            Map<String, String> query = new LinkedHashMap<>();
            if (after != null) {
                query.put("after", after);
            }
            byte[] body = api.call("GET", Api.withQuery("/v1/streams", query), NOTHING)
                    .body();
            try {
                JsonFields page = JsonFields.of(body);
                byte[] streams = page.raw("streams");
                for (byte[] element : streams == null ? List.<byte[]>of() : JsonFields.elements(streams)) {
                    names.add(JsonFields.of(element).text("stream", ""));
                }
                after = page.text("next");
            } catch (JsonFields.Malformed e) {
                throw CommandFailure.refused("the server's answer isn't a list of streams: " + e.getMessage());
            }
        } while (after != null);
        return names;
    }

    private static void read(InputStream answer, Api api, VerifyReport report) {
        JsonFields end = null;
        try (answer) {
            LineReader lines = new LineReader(answer, LINE_BYTES_MAX);
            for (byte[] line = lines.next(); line != null; line = lines.next()) {
                JsonFields fields = JsonFields.of(line);
                switch (fields.text("type", "")) {
                    case "finding" ->
                        report.finding(
                                fields.isTrue("damage"),
                                fields.text("kind", "finding"),
                                fields.text("file"),
                                fields.text("event"),
                                fields.text("detail", ""));
                    case "progress" ->
                        report.progress(
                                fields.number("bytes", 0), fields.number("bytes_total", 0), fields.number("events", 0));
                    case "end" -> end = fields;
                    default -> {
                        // what a later server may say besides
                    }
                }
            }
        } catch (IOException | JsonFields.Malformed e) {
            throw CommandFailure.notReachable(api.lost(e) + "; the check isn't complete");
        }
        if (end == null) {
            throw CommandFailure.notReachable("the answer of " + api + " was cut; the check isn't complete");
        }
        report.end(
                end.number("files", 0),
                end.number("events", 0),
                end.number("bytes", 0),
                end.text("first"),
                end.text("last"),
                end.number("compared", 0));
    }
}
