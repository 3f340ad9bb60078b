package dev.tidemark.client;

import dev.tidemark.client.wire.JsonFields;
import org.jspecify.annotations.Nullable;

/**
 * Where a stream's archive ends and its live log begins. Ids are null where there is none.
 *
 * @param earliest id of the first event that there still is
 * @param watermark id up to which everything is archived and forced to disk
 * @param firstLive id of the first event in the live log
 * @param frontier id up to which order is final
 * @param tail id of the newest event
 * @param liveEvents number of events in the live log
 * @param archivedEvents number of events in the archive
 * @param generation which incarnation of the stream this is
 */
public record Seam(
        @Nullable String earliest,
        @Nullable String watermark,
        @Nullable String firstLive,
        @Nullable String frontier,
        @Nullable String tail,
        long liveEvents,
        long archivedEvents,
        String generation) {
    static Seam of(JsonFields fields) {
        return new Seam(
                fields.text("earliest"),
                fields.text("watermark"),
                fields.text("first_live"),
                fields.text("frontier"),
                fields.text("tail"),
                fields.number("live_events", 0),
                fields.number("archived_events", 0),
                fields.text("generation", ""));
    }
}
