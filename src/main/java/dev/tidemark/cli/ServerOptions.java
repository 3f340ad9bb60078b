package dev.tidemark.cli;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** Where the server is and who asks: options of every command that talks to one, and of its subcommands. */
final class ServerOptions {
    @Option(
            names = "--url",
            scope = ScopeType.INHERIT,
            paramLabel = "URL",
            description = "Where the server is (default: ${DEFAULT-VALUE}; also TIDEMARK_URL).",
            defaultValue = "${env:TIDEMARK_URL:-http://127.0.0.1:8440}")
    private String url = "";

    @Option(
            names = "--token",
            scope = ScopeType.INHERIT,
            paramLabel = "TOKEN",
            description = "Token for a server that asks for one; better given as TIDEMARK_TOKEN.")
    private @Nullable String token;

    Api api() {
        String given = token == null ? System.getenv("TIDEMARK_TOKEN") : token;
        return Api.at(url, given == null || given.isEmpty() ? null : given);
    }
}
