package dev.tidemark.cli;

/** What a command's exit code means. */
final class ExitCode {
    static final int DONE = 0;
    /** Refused by the server, cut short, or damage found. */
    static final int REFUSED = 1;
    /** The command line or the configuration is wrong. */
    static final int USAGE = 2;
    /** The server can't be reached, or the connection to it broke. */
    static final int NOT_REACHABLE = 3;

    private ExitCode() {}
}
