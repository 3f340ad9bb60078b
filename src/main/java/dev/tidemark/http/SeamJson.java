package dev.tidemark.http;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.tidemark.event.Gap;
import dev.tidemark.event.Position;
import dev.tidemark.read.Seam;
import org.jspecify.annotations.Nullable;

/** Seams and gaps as JSON. */
final class SeamJson {
    private SeamJson() {}

    /** The whole object. */
    @CanIgnoreReturnValue
    static JsonOut write(Seam seam, JsonOut json) {
        json.ascii("{\"earliest\":").id(seam.earliest());
        json.ascii(",\"watermark\":").id(seam.watermark());
        json.ascii(",\"first_live\":").id(seam.firstLive());
        json.ascii(",\"frontier\":").id(seam.frontier());
        json.ascii(",\"tail\":").id(seam.tail());
        json.ascii(",\"live_events\":").number(seam.liveEvents());
        json.ascii(",\"archived_events\":").number(seam.archivedEvents());
        json.ascii(",\"live_bytes\":").number(seam.liveBytes());
        json.ascii(",\"archive_bytes\":").number(seam.archiveBytes());
        json.ascii(",\"fold_lag_ms\":").number(seam.foldLagMs());
        Seam.LastFold fold = seam.lastFold();
        json.ascii(",\"last_fold\":{\"outcome\":").string(fold.outcome());
        json.ascii(",\"at\":");
        if (fold.atMs() == 0) {
            json.ascii("null");
        } else {
            json.number(fold.atMs());
        }
        json.ascii(",\"reason\":").string(fold.reason());
        json.ascii("},\"over_retained\":").number(seam.overRetained());
        return json.ascii(",\"generation\":\"")
                .ascii(seam.generation().toString())
                .ascii("\"}");
    }

    /** A gap's fields without braces; {@code earliest} is left out if null. */
    @CanIgnoreReturnValue
    static JsonOut gapFields(Gap gap, @Nullable Position earliest, JsonOut json) {
        json.ascii("\"from\":").id(gap.from());
        json.ascii(",\"to\":").id(gap.to());
        json.ascii(",\"reason\":\"").ascii(gap.reason().text()).ascii("\"");
        return earliest == null ? json : json.ascii(",\"earliest\":").id(earliest);
    }
}
