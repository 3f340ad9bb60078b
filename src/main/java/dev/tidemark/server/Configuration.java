package dev.tidemark.server;

import dev.tidemark.event.Limits;
import dev.tidemark.event.StreamSettings;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Everything that one start of the server is told: read once by {@link ConfigurationLoader}, checked, immutable. Durations are
 * milliseconds, sizes bytes. What each means stands at its {@link ConfigurationKey}.
 *
 * @param data directory of everything that is kept
 * @param http the edge
 * @param redis the live log's Redis
 * @param memoryMaxBytes bound for all timelines together
 * @param idleAfterMs time without appends and reads after which a stream's memory and files are let go of
 * @param keepers number of keeper event loops
 * @param limits greatest sizes, with their relations checked
 * @param acceptanceBytesMax bound for the events of a stripe whose place isn't final
 * @param tailTimeoutMs wait for a keeper
 * @param foldMaxLagMs age at which a sealed event is folded
 * @param subscriberBufferBytes bound for one slow subscriber
 * @param shutdownTimeoutMs wait for the last fold
 * @param autoCreate whether the first append creates a stream
 * @param streamDefaults settings of streams that don't set their own
 * @param insecure whether an open port beyond loopback is wanted
 * @param testClock a wall clock that is wrong on purpose
 * @param start what holds for this start only
 */
public record Configuration(
        Path data,
        Http http,
        Redis redis,
        long memoryMaxBytes,
        long idleAfterMs,
        int keepers,
        Limits limits,
        long acceptanceBytesMax,
        long tailTimeoutMs,
        long foldMaxLagMs,
        int subscriberBufferBytes,
        long shutdownTimeoutMs,
        boolean autoCreate,
        StreamSettings streamDefaults,
        boolean insecure,
        TestClock testClock,
        Start start) {

    /**
     * The HTTP edge.
     *
     * @param host address to listen on
     * @param port port to listen on; 0 for any free one
     * @param hosts more names by which clients may call
     * @param allowedOrigins origins of pages that may call
     * @param headerBytesMax greatest size of a request's headers
     * @param bodyTimeoutMs time for a body to arrive, besides a second for each 64 KiB
     * @param idleTimeoutMs time for a whole request head to arrive
     * @param webSocketPingMs interval of pings, and time to answer one
     * @param webSocketCompression whether events are compressed for WebSocket clients that offer it
     */
    public record Http(
            String host,
            int port,
            List<String> hosts,
            List<String> allowedOrigins,
            int headerBytesMax,
            long bodyTimeoutMs,
            long idleTimeoutMs,
            long webSocketPingMs,
            boolean webSocketCompression) {
        public Http {
            hosts = List.copyOf(hosts);
            allowedOrigins = List.copyOf(allowedOrigins);
        }
    }

    /**
     * For tests only.
     *
     * @param offsetMs how far the wall clock stands beside the machine's
     * @param rate how many times as fast it runs
     * @param file sets both while the server runs; null for none
     */
    public record TestClock(
            long offsetMs, double rate, @Nullable Path file) {
        boolean isWanted() {
            return offsetMs != 0 || rate != 1 || file != null;
        }
    }

    /** {@code appendfsync} of the child Redis. */
    public enum Fsync {
        ALWAYS,
        EVERYSEC,
        NO;

        /** As Redis writes it. */
        public String text() {
            return name().toLowerCase(java.util.Locale.ROOT);
        }
    }

    /**
     * The live log's Redis.
     *
     * @param url a Redis that runs already; empty for our own child process
     * @param prefix first part of every key
     * @param fsync of the child
     * @param maxmemoryBytes of the child
     * @param memoryHighPercent share of {@code maxmemory} above which folded events are trimmed early
     * @param allowVolatile whether a Redis without append-only file will do
     * @param allowEviction whether a Redis that evicts will do
     * @param commandTimeoutMs wait for an answer
     */
    public record Redis(
            Optional<String> url,
            String prefix,
            Fsync fsync,
            long maxmemoryBytes,
            int memoryHighPercent,
            boolean allowVolatile,
            boolean allowEviction,
            long commandTimeoutMs) {
        /** Without the URL: it may hold a password. */
        @Override
        public String toString() {
            return "Redis[" + (url.isPresent() ? "at a URL" : "child") + ", prefix=" + prefix + ", fsync="
                    + fsync.text() + ", maxmemory=" + maxmemoryBytes + ", memory_high=" + memoryHighPercent + "%]";
        }
    }

    /**
     * Flags of the command line that no file or variable sets: they hold for one start.
     *
     * @param standby wait for the lock of the data directory instead of refusing
     * @param takePrefix take the Redis prefix over from another owner
     */
    public record Start(boolean standby, boolean takePrefix) {
        /** Neither. */
        public static final Start NORMAL = new Start(false, false);
    }

    /**
     * Checks the values against each other.
     *
     * @throws ConfigurationException naming the keys
     */
    public Configuration {
        if (!insecure && !isLoopback(http.host())) {
            throw new ConfigurationException("http.host: '" + http.host()
                    + "' isn't a loopback address and there is no authentication; allowed is 127.0.0.1, ::1 or localhost,"
                    + " or insecure: true (--insecure) if everyone who reaches the port may read, write and delete");
        }
    }

    /** Whether only this machine reaches the address. A name other than localhost counts as reachable. */
    static boolean isLoopback(String host) {
        if (host.equals("localhost")) {
            return true;
        }
        boolean literal = host.indexOf(':') >= 0 || host.matches("[0-9.]+");
        try {
            return literal && InetAddress.getByName(host).isLoopbackAddress();
        } catch (UnknownHostException e) {
            return false;
        }
    }
}
