package dev.tidemark.livelog;

import dev.tidemark.livelog.LiveLogException.Kind;
import io.vertx.core.Future;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import org.jspecify.annotations.Nullable;

/**
 * Whose the Redis prefix is: {@code <prefix>:owner} holds {@code <id> <where>} of the data directory that writes under it. Two
 * processes must not fold and trim the same streams, so another id there means refusal.
 *
 * @param id random id of our data directory, without blanks
 * @param where for people: path of our data directory, perhaps with the host's name
 */
public record PrefixOwner(String id, String where) {
    private static final int REQUEST_BYTES = 200;

    /** @throws IllegalArgumentException if the id is empty or has blanks */
    public PrefixOwner {
        if (id.isEmpty() || id.chars().anyMatch(Character::isWhitespace)) {
            throw new IllegalArgumentException("the id of a data directory has no blanks: '" + id + "'");
        }
    }

    private String value() {
        return id + " " + where;
    }

    /**
     * Claims the prefix if it is free, and checks that it is ours. Looks first: a Redis that is full refuses to set even what is there.
     */
    Future<Void> check(RedisLink link, LiveLogKeys keys) {
        return get(link, keys).compose(found -> {
            if (!found.isEmpty()) {
                return judge(found, link, keys);
            }
            Request claim =
                    Request.cmd(Command.SET).arg(keys.owner()).arg(value()).arg("NX");
            return link.send(claim, REQUEST_BYTES)
                    .compose(done -> get(link, keys))
                    .compose(now -> judge(now, link, keys));
        });
    }

    /** Makes the prefix ours, whoever had it. */
    Future<Void> take(RedisLink link, LiveLogKeys keys) {
        return link.send(Request.cmd(Command.SET).arg(keys.owner()).arg(value()), REQUEST_BYTES)
                .mapEmpty();
    }

    private static Future<String> get(RedisLink link, LiveLogKeys keys) {
        return link.send(Request.cmd(Command.GET).arg(keys.owner()), REQUEST_BYTES)
                .map(PrefixOwner::text);
    }

    private static String text(@Nullable Response value) {
        return value == null ? "" : value.toString();
    }

    private Future<Void> judge(String found, RedisLink link, LiveLogKeys keys) {
        int blank = found.indexOf(' ');
        String owner = blank < 0 ? found : found.substring(0, blank);
        if (owner.equals(id)) {
            return link.context().succeededFuture();
        }
        return link.context()
                .failedFuture(new LiveLogException(
                        Kind.REFUSED,
                        "the Redis prefix '" + keys.prefix() + "' belongs to another data directory: " + keys.owner()
                                + " is '" + found + "', ours is '" + value()
                                + "'; use another redis.prefix, or --take-prefix if the other one is gone for good"));
    }
}
