package dev.tidemark.server;

/**
 * The configuration can't be used. The message is one line for the person who wrote it: the key, what is wrong and what is
 * allowed. It carries no stack trace.
 */
public final class ConfigurationException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public ConfigurationException(String message) {
        super(message, null, false, false);
    }
}
