package dev.tidemark.server;

/** Placeholder of this branch, replaced by the composition root. */
public final class Server {
    private Server() {}

    /** Starts the server; returns when it is ready. */
    public static Server start(Configuration configuration) {
        if (configuration.keepers() > 0) {
            throw new IllegalStateException("no server in this build for " + configuration.data());
        }
        return new Server();
    }

    /** Waits until the server has stopped. */
    public void awaitStop() {}
}
