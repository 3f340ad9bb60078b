package dev.tidemark.client;

import dev.tidemark.client.wire.JsonFields;
import org.jspecify.annotations.Nullable;

/**
 * Events that can't be given any more.
 *
 * @param from id of the first position that is missing; null if it isn't known
 * @param to id of the last one; null if it isn't known
 * @param reason {@code expired} (pruned), {@code lost}, {@code skipped} (the subscriber was too slow and asked for that),
 *     {@code damaged} or {@code reset}
 * @param earliest id of the first event that there still is; null if it isn't told
 */
public record Gap(
        @Nullable String from,
        @Nullable String to,
        String reason,
        @Nullable String earliest) {
    static Gap of(JsonFields fields) {
        return new Gap(
                fields.text("from"), fields.text("to"), fields.text("reason", "unknown"), fields.text("earliest"));
    }

    TidemarkException refusedByDefault() {
        return TidemarkException.of(
                TidemarkException.GAP,
                "events are missing from " + from + " to " + to + " (" + reason + "); take gaps to go on behind them",
                false,
                null);
    }
}
