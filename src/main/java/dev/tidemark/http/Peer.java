package dev.tidemark.http;

import dev.tidemark.event.Clock;
import io.netty.channel.Channel;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.impl.HttpServerConnection;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * One HTTP connection and its deadlines: until a request head is there, until a body is there, until a refused body was read away,
 * until it is closed. Its event loop owns it and looks at it with every tick.
 */
final class Peer {
    private enum State {
        OPEN,
        /** The last answer was given: what still comes is read away, so that the client gets to see the answer. */
        LINGERING,
        /** Closed as soon as the client has taken what was written. */
        CLOSING
    }

    private static final AtomicLong NUMBERS = new AtomicLong();

    private final HttpConnection connection;
    /** Tells it apart from the other connections of this process. */
    private final String identity = Long.toString(NUMBERS.incrementAndGet());

    private final HttpOptions.Timeouts timeouts;
    private final Clock clock;

    private State state = State.OPEN;
    /** When the state began; in {@link State#OPEN}, since when a request head is waited for. */
    private long sinceNs;

    private @Nullable Exchange exchange;
    private @Nullable String checkedHost;

    Peer(HttpConnection connection, HttpOptions.Timeouts timeouts, Clock clock) {
        this.connection = connection;
        this.timeouts = timeouts;
        this.clock = clock;
        sinceNs = clock.monotonicNs();
    }

    String identity() {
        return identity;
    }

    HttpConnection connection() {
        return connection;
    }

    /** Whether the connection ends with the answer under way: whatever else comes on it isn't answered. */
    boolean ending() {
        return state != State.OPEN;
    }

    /** Whether an answer is still to be given. */
    boolean busy() {
        return exchange != null && !exchange.done();
    }

    void begin(Exchange begun) {
        exchange = begun;
    }

    /** Takes no further request, and closes when the rest of the body was read away or after the linger time. */
    void closeSoon() {
        if (state == State.OPEN) {
            enter(State.LINGERING);
        }
    }

    /** Closes; at once, but for what the client hasn't taken yet. */
    void close() {
        if (state != State.CLOSING) {
            enter(State.CLOSING);
            connection.close();
        }
    }

    private void enter(State next) {
        state = next;
        sinceNs = clock.monotonicNs();
    }

    /** Ends the connection now, whatever was written. */
    void abort() {
        enter(State.CLOSING);
        var unused = ((HttpServerConnection) connection).channelHandlerContext().close();
    }

    Channel channel() {
        return ((HttpServerConnection) connection).channelHandlerContext().channel();
    }

    /** Sends what was written, when there may be no later. */
    void flush() {
        ((HttpServerConnection) connection).channelHandlerContext().flush();
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
        switch (state) {
            case OPEN -> tickOpen(nowNs);
            case LINGERING -> tickLingering(nowNs);
            case CLOSING -> {
                if (isOver(timeouts.closeMs(), nowNs)) {
                    abort();
                }
            }
        }
    }

    /** The time to linger begins with the end of the answer. */
    private void tickLingering(long nowNs) {
        Exchange last = exchange;
        if (last != null && !last.answered()) {
            sinceNs = nowNs;
            last.tick(nowNs);
        } else if (isOver(timeouts.lingerMs(), nowNs)) {
            close();
        }
    }

    private boolean isOver(long ms, long nowNs) {
        return nowNs - sinceNs >= ms * 1_000_000;
    }

    private void tickOpen(long nowNs) {
        Exchange current = exchange;
        if (current != null && !current.done()) {
            current.tick(nowNs);
            return;
        }
        if (current != null) {
            exchange = null;
            sinceNs = nowNs;
        }
        if (isOver(timeouts.idleMs(), nowNs)) {
            close();
        }
    }
}
