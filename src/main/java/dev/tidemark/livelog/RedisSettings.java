package dev.tidemark.livelog;

import io.vertx.core.net.NetClientOptions;
import io.vertx.core.net.PemTrustOptions;
import io.vertx.redis.client.ProtocolVersion;
import io.vertx.redis.client.RedisOptions;
import java.util.concurrent.TimeUnit;

/**
 * How Redis is used.
 *
 * @param address where it is
 * @param keys names of the keys, with {@code redis.prefix}
 * @param allowVolatile {@code redis.allow_volatile}: take a Redis without append-only file
 * @param allowEviction {@code redis.allow_eviction}: take a Redis that evicts
 * @param connectTimeoutMs longest time for a connection, log-in and checks included
 * @param commandTimeoutMs longest silence of Redis while an append is unanswered (1 ms more for each 8 KiB of it); then its
 *     connection is closed
 * @param readTimeoutMs the same for reads, trims and admin commands
 * @param commandsInFlightMax commands without an answer on one connection; more are refused at once
 * @param bytesInFlightMax bytes of them; a command alone may be larger
 * @param readConnections connections for reads, trims and admin commands
 */
public record RedisSettings(
        RedisAddress address,
        LiveLogKeys keys,
        boolean allowVolatile,
        boolean allowEviction,
        int connectTimeoutMs,
        int commandTimeoutMs,
        int readTimeoutMs,
        int commandsInFlightMax,
        long bytesInFlightMax,
        int readConnections) {
    /** A large command may take longer: so many bytes a millisecond are expected of the slowest Redis. */
    static final long BYTES_PER_MS = 8 << 10;

    private static final int SPARE = 64;
    private static final long SILENCE_MS_MORE = 2_000;
    private static final long SILENCE_MS_MAX = 600_000;

    public RedisSettings {
        check("connectTimeoutMs", connectTimeoutMs, 1, 600_000);
        check("commandTimeoutMs", commandTimeoutMs, 1, 600_000);
        check("readTimeoutMs", readTimeoutMs, 1, 600_000);
        check("commandsInFlightMax", commandsInFlightMax, 1, 1 << 20);
        check("bytesInFlightMax", bytesInFlightMax, 1, 1L << 40);
        check("readConnections", readConnections, 1, 64);
    }

    private static void check(String name, long value, long min, long max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(name + " is " + value + "; allowed is " + min + " to " + max);
        }
    }

    /** The defaults. */
    public static RedisSettings of(RedisAddress address) {
        return new RedisSettings(
                address,
                new LiveLogKeys(LiveLogKeys.DEFAULT_PREFIX),
                false,
                false,
                3_000,
                2_000,
                5_000,
                4_096,
                64L << 20,
                3);
    }

    public RedisSettings withKeys(LiveLogKeys to) {
        return new RedisSettings(
                address,
                to,
                allowVolatile,
                allowEviction,
                connectTimeoutMs,
                commandTimeoutMs,
                readTimeoutMs,
                commandsInFlightMax,
                bytesInFlightMax,
                readConnections);
    }

    public RedisSettings withAllowed(boolean volatileOnes, boolean evictingOnes) {
        return new RedisSettings(
                address,
                keys,
                volatileOnes,
                evictingOnes,
                connectTimeoutMs,
                commandTimeoutMs,
                readTimeoutMs,
                commandsInFlightMax,
                bytesInFlightMax,
                readConnections);
    }

    public RedisSettings withTimeouts(int connectMs, int commandMs, int readMs) {
        return new RedisSettings(
                address,
                keys,
                allowVolatile,
                allowEviction,
                connectMs,
                commandMs,
                readMs,
                commandsInFlightMax,
                bytesInFlightMax,
                readConnections);
    }

    public RedisSettings withInFlight(int commandsMax, long bytesMax) {
        return new RedisSettings(
                address,
                keys,
                allowVolatile,
                allowEviction,
                connectTimeoutMs,
                commandTimeoutMs,
                readTimeoutMs,
                commandsMax,
                bytesMax,
                readConnections);
    }

    /** How long a connection may be without anything coming in, when commands time out after {@code timeoutMs}. */
    long silenceMsMax(long timeoutMs) {
        return Math.min(SILENCE_MS_MAX, timeoutMs + bytesInFlightMax / BYTES_PER_MS + SILENCE_MS_MORE);
    }

    /**
     * For a client of one connection: nothing waits in its pool, and it closes the connection by itself only when nothing comes in. That
     * is what frees a socket which Redis doesn't read any more: to close it otherwise waits until all is written.
     */
    RedisOptions clientOptions(long timeoutMs) {
        NetClientOptions net = new NetClientOptions()
                .setConnectTimeout(connectTimeoutMs)
                .setReadIdleTimeout((int) silenceMsMax(timeoutMs))
                .setIdleTimeoutUnit(TimeUnit.MILLISECONDS)
                .setTcpKeepAlive(!address.isUnix());
        if (address.isTls()) {
            net.setSsl(true).setHostnameVerificationAlgorithm("HTTPS");
            String ca = address.ca();
            if (ca != null) {
                net.setTrustOptions(new PemTrustOptions().addCertPath(ca));
            }
        }
        RedisOptions options = new RedisOptions()
                .setConnectionString(address.connectionString())
                .setNetClientOptions(net)
                .setPreferredProtocolVersion(ProtocolVersion.RESP2)
                .setMaxPoolSize(1)
                .setMaxPoolWaiting(1)
                .setPoolCleanerInterval(-1)
                .setPoolRecycleTimeout(-1)
                .setMaxWaitingHandlers(commandsInFlightMax + SPARE);
        if (address.user() != null) {
            options.setUser(address.user());
        }
        if (address.password() != null) {
            options.setPassword(address.password());
        }
        return options;
    }
}
