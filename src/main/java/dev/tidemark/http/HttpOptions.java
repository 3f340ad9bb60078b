package dev.tidemark.http;

import dev.tidemark.event.Limits;
import java.util.List;

/**
 * How the HTTP edge listens and what it bears.
 *
 * @param host address to listen on
 * @param port TCP port; 0 takes a free one, shared by the edges of one Vert.x instance
 * @param hosts names, besides the loopback ones and the listen address, that a {@code Host} header may have; with a port it must match too
 * @param allowedOrigins origins ({@code scheme://host[:port]}) that may use CORS and WebSocket besides the server's own
 * @param limits greatest sizes of bodies and answers
 * @param requestLineBytesMax longest request line; above it 414
 * @param headerBytesMax most bytes of headers; above it 431
 * @param bodiesBytesMax bytes of request bodies that one event loop holds at the same time; above it 503
 * @param connectionsMax connections of one event loop; more are closed at once
 * @param subscriberBufferBytes bytes that may wait for one slow reader or subscriber
 * @param clientMessageBytesMax longest WebSocket message that a client may send
 * @param webSocketCompression whether events are compressed for WebSocket clients that offer it
 * @param timeouts how long things may take
 */
public record HttpOptions(
        String host,
        int port,
        List<String> hosts,
        List<String> allowedOrigins,
        Limits limits,
        int requestLineBytesMax,
        int headerBytesMax,
        long bodiesBytesMax,
        int connectionsMax,
        int subscriberBufferBytes,
        int clientMessageBytesMax,
        boolean webSocketCompression,
        Timeouts timeouts) {
    /** API.md's defaults. */
    public static final HttpOptions DEFAULT = new HttpOptions(
            "127.0.0.1",
            8440,
            List.of(),
            List.of(),
            Limits.DEFAULT,
            4096,
            8192,
            64L << 20,
            50_000,
            1 << 20,
            64 << 10,
            false,
            Timeouts.DEFAULT);

    /** @throws IllegalArgumentException naming what is out of range */
    public HttpOptions {
        hosts = List.copyOf(hosts);
        allowedOrigins = List.copyOf(allowedOrigins);
        check("port", port, 0, 65_535);
        check("request line", requestLineBytesMax, 512, 1 << 20);
        check("header bytes", headerBytesMax, 512, 1 << 20);
        check("bodies in flight", bodiesBytesMax, limits.bodyBytesMax(), Long.MAX_VALUE);
        check("connections", connectionsMax, 1, Integer.MAX_VALUE);
        check("subscriber_buffer", subscriberBufferBytes, 4 << 10, 1 << 30);
        check("client message bytes", clientMessageBytesMax, 125, 16 << 20);
    }

    private static void check(String what, long value, long min, long max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(what + " is " + value + "; allowed is " + min + " to " + max);
        }
    }

    /** The same on another address. */
    public HttpOptions listeningOn(String otherHost, int otherPort) {
        return new HttpOptions(
                otherHost,
                otherPort,
                hosts,
                allowedOrigins,
                limits,
                requestLineBytesMax,
                headerBytesMax,
                bodiesBytesMax,
                connectionsMax,
                subscriberBufferBytes,
                clientMessageBytesMax,
                webSocketCompression,
                timeouts);
    }

    /** The same with compression for WebSocket clients that offer it. */
    public HttpOptions compressing() {
        return new HttpOptions(
                host,
                port,
                hosts,
                allowedOrigins,
                limits,
                requestLineBytesMax,
                headerBytesMax,
                bodiesBytesMax,
                connectionsMax,
                subscriberBufferBytes,
                clientMessageBytesMax,
                true,
                timeouts);
    }

    /**
     * How long things may take, milliseconds.
     *
     * @param idleMs until a connection has sent a whole request head, from its start or its last answer on
     * @param bodyMs until a request body has arrived, plus a second for each 64 KiB that came
     * @param lingerMs how long the rest of a refused body is read away before the connection is closed
     * @param heartbeatMs silence after which a subscriber gets a heartbeat, if it doesn't choose itself
     * @param pingMs interval of WebSocket pings
     * @param pongMs until a ping must be answered
     * @param closeMs how long a stop, or the closing of one WebSocket, may take
     */
    public record Timeouts(
            long idleMs, long bodyMs, long lingerMs, long heartbeatMs, long pingMs, long pongMs, long closeMs) {
        public static final Timeouts DEFAULT = new Timeouts(60_000, 30_000, 2_000, 15_000, 20_000, 20_000, 5_000);

        public Timeouts {
            check("idle timeout", idleMs, 1, Integer.MAX_VALUE);
            check("body timeout", bodyMs, 1, Integer.MAX_VALUE);
            check("linger", lingerMs, 1, Integer.MAX_VALUE);
            check("heartbeat", heartbeatMs, 1, Integer.MAX_VALUE);
            check("ping interval", pingMs, 1, Integer.MAX_VALUE);
            check("pong timeout", pongMs, 1, Integer.MAX_VALUE);
            check("close timeout", closeMs, 1, Integer.MAX_VALUE);
        }

        /** How long a client that is there may take nothing of what waits for it, before it is cut off. */
        public long stallMs() {
            return 15 * pongMs;
        }

        /** How long a client that takes what waits for it, but slowly, has until it has seen why it is closed. */
        public long closeMsMax() {
            return 12 * closeMs;
        }
    }
}
