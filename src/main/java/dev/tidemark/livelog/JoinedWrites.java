package dev.tidemark.livelog;

import io.netty.channel.ChannelPipeline;
import io.netty.handler.flush.FlushConsolidationHandler;
import io.vertx.core.internal.net.NetSocketInternal;
import io.vertx.redis.client.RedisConnection;
import io.vertx.redis.client.impl.PooledRedisConnection;
import io.vertx.redis.client.impl.RedisConnectionInternal;
import java.lang.reflect.Field;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets the commands that are sent in one turn of an event loop leave in one write. The Redis client flushes after each of them; a write
 * of its own for each costs more than all the rest of sending it, here and in Redis.
 *
 * <p>The client has no setting for it and doesn't show its socket, so that is looked for in a private field of it. Where there is none,
 * as in another version of the client, every command has its own write as before.
 */
final class JoinedWrites {
    private static final Logger LOG = LoggerFactory.getLogger(JoinedWrites.class);
    private static final String SOCKET_FIELD = "netSocket";
    /** So many commands at most wait for a write. */
    private static final int COMMANDS_MAX = 256;

    private JoinedWrites() {}

    /**
     * On the connection's event loop, before the first command.
     *
     * @return whether it is so from now on
     */
    static boolean on(RedisConnection connection) {
        NetSocketInternal socket = socketOrNull(connection);
        if (socket == null) {
            return false;
        }
        ChannelPipeline pipeline = socket.channelHandlerContext().pipeline();
        pipeline.addFirst("joinedWrites", new FlushConsolidationHandler(COMMANDS_MAX, true));
        return true;
    }

    private static @Nullable NetSocketInternal socketOrNull(RedisConnection connection) {
        if (connection instanceof PooledRedisConnection pooled) {
            RedisConnectionInternal actual = pooled.actual();
            try {
                Field field = actual.getClass().getDeclaredField(SOCKET_FIELD);
                field.setAccessible(true);
                return field.get(actual) instanceof NetSocketInternal socket ? socket : null;
            } catch (ReflectiveOperationException | RuntimeException e) {
                LOG.debug("the Redis client's socket isn't where it was", e);
            }
        }
        return null;
    }
}
