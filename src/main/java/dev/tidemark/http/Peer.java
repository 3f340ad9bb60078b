package dev.tidemark.http;

import io.vertx.core.http.HttpConnection;
import org.jspecify.annotations.Nullable;

/**
 * One HTTP connection and its deadlines: until a request head is there, until a body is there, until a refused body was read away. Its
 * event loop owns it and looks at it with every tick.
 */
final class Peer {
    private final HttpConnection connection;
    private final HttpOptions.Timeouts timeouts;

    private long quietSinceNs;
    private @Nullable Exchange exchange;
    private boolean closing;
    private long closeAtNs;
    private @Nullable String checkedHost;

    Peer(HttpConnection connection, HttpOptions.Timeouts timeouts, long nowNs) {
        this.connection = connection;
        this.timeouts = timeouts;
        quietSinceNs = nowNs;
    }

    HttpConnection connection() {
        return connection;
    }

    /** Whether the connection ends with the answer under way: whatever else comes on it isn't answered. */
    boolean closing() {
        return closing;
    }

    /** Whether an answer is still to be given. */
    boolean busy() {
        return exchange != null && !exchange.done();
    }

    void begin(Exchange begun) {
        exchange = begun;
    }

    /** Takes no further request, and closes when the rest of the body was read away or after the linger time. */
    void closeSoon(long nowNs) {
        closing = true;
        closeAtNs = nowNs + timeouts.lingerMs() * 1_000_000;
    }

    void close() {
        closing = true;
        connection.close();
    }

    /** The {@code Host} that was checked last on this connection and is ours. */
    @Nullable
    String checkedHost() {
        return checkedHost;
    }

    void checkedHost(String host) {
        checkedHost = host;
    }

    void tick(long nowNs) {
        if (closing) {
            if (nowNs - closeAtNs >= 0) {
                close();
            }
            return;
        }
        Exchange current = exchange;
        if (current != null && !current.done()) {
            current.tick(nowNs);
            return;
        }
        if (current != null) {
            exchange = null;
            quietSinceNs = nowNs;
        }
        if (nowNs - quietSinceNs >= timeouts.idleMs() * 1_000_000) {
            close();
        }
    }
}
