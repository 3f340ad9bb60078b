package dev.tidemark.cli;

/** Why a command ends without success: one line for a person, and an exit code. It carries no stack trace. */
final class CommandFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int exitCode;

    /** @param exitCode one of {@link ExitCode} */
    CommandFailure(int exitCode, String message) {
        super(message, null, false, false);
        this.exitCode = exitCode;
    }

    static CommandFailure refused(String message) {
        return new CommandFailure(ExitCode.REFUSED, message);
    }

    static CommandFailure usage(String message) {
        return new CommandFailure(ExitCode.USAGE, message);
    }

    static CommandFailure notReachable(String message) {
        return new CommandFailure(ExitCode.NOT_REACHABLE, message);
    }

    int exitCode() {
        return exitCode;
    }

    String message() {
        return String.valueOf(getMessage());
    }
}
