package dev.tidemark.livelog;

import dev.tidemark.event.EventId;
import dev.tidemark.event.Position;
import dev.tidemark.event.StreamId;
import dev.tidemark.event.StreamName;
import dev.tidemark.event.StripeId;

/**
 * Names of Tidemark's keys in Redis. What is used together shares a hash tag; stream names are percent-encoded where they would
 * end a tag early, so that different names never meet.
 *
 * <pre>
 *   tidemark:owner                                    string  id of the data directory that owns the prefix
 *   tidemark:streams                                  hash    stream name -> description (a copy)
 *   tidemark:{&lt;stream>#&lt;stripe>/&lt;generation>}:live    stream  the live log of a stripe
 *   tidemark:{&lt;stream>#&lt;stripe>/&lt;generation>}:quarantine  stream  what others put into the live log
 *   tidemark:{&lt;stream>#&lt;stripe>/&lt;generation>}:restored    stream  the live log's copy while its position is put back
 *   tidemark:{&lt;stream>}:archived                      string  EVT… ms-seq generation: the seam
 * </pre>
 *
 * @param prefix what every key begins with, {@code tidemark} by default
 */
public record LiveLogKeys(String prefix) {
    public static final String DEFAULT_PREFIX = "tidemark";

    /** @throws IllegalArgumentException if the prefix is empty, is longer than 100 characters or has braces, blanks or control characters */
    public LiveLogKeys {
        if (prefix.isEmpty() || prefix.length() > 100 || prefix.chars().anyMatch(LiveLogKeys::isForbidden)) {
            throw new IllegalArgumentException("redis.prefix is '" + prefix
                    + "'; allowed are 1 to 100 characters without braces, blanks and control characters");
        }
    }

    private static boolean isForbidden(int c) {
        return c == '{' || c == '}' || Character.isWhitespace(c) || Character.isISOControl(c);
    }

    /** Whose data directory owns the prefix. */
    public String owner() {
        return prefix + ":owner";
    }

    /** The registry of streams, by their names. */
    public String streams() {
        return prefix + ":streams";
    }

    /** The live log of a stripe. */
    public String live(StripeId stripe) {
        return tag(stripe) + ":live";
    }

    private String tag(StripeId stripe) {
        StreamId stream = stripe.stream();
        return prefix + ":{" + stream.name().redisName() + "#" + stripe.index() + "/" + stream.generation() + "}";
    }

    /** Copies of what was in the live log of a stripe and wasn't the keeper's. */
    public String quarantine(StripeId stripe) {
        return tag(stripe) + ":quarantine";
    }

    /** The copy that takes the live log's place when its position is put back. */
    public String restored(StripeId stripe) {
        return tag(stripe) + ":restored";
    }

    /** The copy of a stream's seam. */
    public String archived(StreamName stream) {
        return prefix + ":{" + stream.redisName() + "}:archived";
    }

    /** What stands under {@link #archived}: the watermark as event id and as entry id, and the generation. */
    public static String seamText(StreamId stream, Position watermark) {
        return EventId.of(watermark) + " " + watermark.entryId() + " " + stream.generation();
    }

    /** The watermark in such a text; {@link Position#ZERO} if it isn't of this incarnation, or isn't one of ours. */
    public static Position seamOf(StreamId stream, String text) {
        String[] parts = text.split(" ", -1);
        boolean ours = parts.length == 3 && parts[2].equals(stream.generation().toString());
        try {
            return ours ? Position.ofEntryId(parts[1]) : Position.ZERO;
        } catch (IllegalArgumentException e) {
            return Position.ZERO;
        }
    }
}
