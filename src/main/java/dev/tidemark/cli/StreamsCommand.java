package dev.tidemark.cli;

import dev.tidemark.client.wire.JsonFields;
import dev.tidemark.client.wire.JsonText;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code streams}: what streams there are, and making and removing them. Each subcommand is one call. */
final class StreamsCommand {
    private static final String PATH = "/v1/streams";
    private static final byte[] NOTHING = {};

    private StreamsCommand() {}

    /** {@code streams} alone lists, and has the options of all that is below it: they may stand on either side of a subcommand. */
    @Command(name = "streams", description = "List, show, create or delete streams (default: list).")
    static final class Streams implements Callable<Integer> {
        private final Terminal terminal;

        @Mixin
        private ServerOptions server = new ServerOptions();

        Streams(Terminal terminal) {
            this.terminal = terminal;
        }

        ServerOptions server() {
            return server;
        }

        @Override
        public Integer call() {
            return new ListAll(terminal, server).call();
        }
    }

    /** {@code streams list}. */
    @Command(name = "list", description = "List the streams.")
    static final class ListAll implements Callable<Integer> {
        private static final List<String> COLUMNS = List.of("stream", "live_events", "archived_events");

        private final Terminal terminal;
        private final ServerOptions server;

        ListAll(Terminal terminal, ServerOptions server) {
            this.terminal = terminal;
            this.server = server;
        }

        @Override
        public Integer call() {
            Api api = server.api();
            List<List<String>> rows = new ArrayList<>();
            rows.add(List.of("STREAM", "LIVE", "ARCHIVED"));
            String after = null;
            do {
                after = page(api, after, rows);
            } while (after != null);
            print(rows);
            return ExitCode.DONE;
        }

        private static @Nullable String page(Api api, @Nullable String after, List<List<String>> rows) {
            Map<String, String> query = new LinkedHashMap<>();
            if (after != null) {
                query.put("after", after);
            }
            byte[] body = api.call("GET", Api.withQuery(PATH, query), NOTHING).body();
            try {
                JsonFields page = JsonFields.of(body);
                byte[] streams = page.raw("streams");
                for (byte[] element : streams == null ? List.<byte[]>of() : JsonFields.elements(streams)) {
                    JsonFields stream = JsonFields.of(element);
                    rows.add(COLUMNS.stream()
                            .map(column -> stream.text(column, "-"))
                            .toList());
                }
                return page.text("next");
            } catch (JsonFields.Malformed e) {
                throw CommandFailure.refused("the server's answer isn't a list of streams: " + e.getMessage());
            }
        }

        private void print(List<List<String>> rows) {
            int width = rows.stream().mapToInt(row -> row.get(0).length()).max().orElse(0);
            for (List<String> row : rows) {
                terminal.print(row.get(0)
                        + " ".repeat(width - row.get(0).length())
                        + String.format("  %12s  %12s%n", row.get(1), row.get(2)));
            }
            terminal.flush();
        }
    }

    /** {@code streams show NAME}. */
    @Command(name = "show", description = "Show a stream's settings and where its events are.")
    static final class Show implements Callable<Integer> {
        private final Terminal terminal;
        private final ServerOptions server;

        @Parameters(index = "0", paramLabel = "NAME", description = "Name of the stream.")
        private String stream = "";

        Show(Terminal terminal, ServerOptions server) {
            this.terminal = terminal;
            this.server = server;
        }

        @Override
        public Integer call() {
            byte[] body = server.api()
                    .call("GET", Api.streamPath(stream, ""), NOTHING)
                    .body();
            terminal.print(JsonText.indent(body) + "\n");
            terminal.flush();
            return ExitCode.DONE;
        }
    }

    /** {@code streams create NAME}. */
    @Command(name = "create", description = "Create a stream, or change settings of one that exists.")
    static final class Create implements Callable<Integer> {
        private final Terminal terminal;
        private final ServerOptions server;

        @Option(
                names = "--set",
                paramLabel = "KEY=VALUE",
                description = "A setting, such as live_max_events=1000; null resets it. May be repeated.")
        private List<String> settings = new ArrayList<>();

        @Parameters(index = "0", paramLabel = "NAME", description = "Name of the stream.")
        private String stream = "";

        Create(Terminal terminal, ServerOptions server) {
            this.terminal = terminal;
            this.server = server;
        }

        @Override
        public Integer call() {
            byte[] json = json().getBytes(StandardCharsets.UTF_8);
            int status =
                    server.api().call("PUT", Api.streamPath(stream, ""), json).statusCode();
            terminal.print(stream + (status == 201 ? ": created\n" : ": exists; settings merged\n"));
            terminal.flush();
            return ExitCode.DONE;
        }

        private String json() {
            Map<String, String> members = new LinkedHashMap<>();
            for (String setting : settings) {
                int equals = setting.indexOf('=');
                if (equals < 1) {
                    throw CommandFailure.usage("--set: '" + setting + "' isn't KEY=VALUE");
                }
                String key = setting.substring(0, equals);
                if (members.put(key, value(setting.substring(equals + 1))) != null) {
                    throw CommandFailure.usage("--set: " + key + " is there twice");
                }
            }
            StringBuilder json = new StringBuilder("{");
            members.forEach((key, value) -> json.append(json.length() > 1 ? "," : "")
                    .append(JsonText.quote(key))
                    .append(':')
                    .append(value));
            return json.append('}').toString();
        }

        private static String value(String written) {
            return written.matches("0|[1-9]\\d{0,17}|null") ? written : JsonText.quote(written);
        }
    }

    /** {@code streams delete NAME}. */
    @Command(name = "delete", description = "Delete a stream: its live log and its archive.")
    static final class Delete implements Callable<Integer> {
        private final Terminal terminal;
        private final ServerOptions server;

        @Parameters(index = "0", paramLabel = "NAME", description = "Name of the stream.")
        private String stream = "";

        Delete(Terminal terminal, ServerOptions server) {
            this.terminal = terminal;
            this.server = server;
        }

        @Override
        public Integer call() {
            int status = server.api()
                    .call("DELETE", Api.streamPath(stream, ""), NOTHING)
                    .statusCode();
            assert status / 100 == 2;
            terminal.print(stream + ": deleted\n");
            terminal.flush();
            return ExitCode.DONE;
        }
    }
}
