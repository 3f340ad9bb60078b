package dev.tidemark.server;

/** The server can't start; the message says what is in the way. */
public final class StartException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public StartException(String message, Throwable cause) {
        super(message, cause);
    }
}
