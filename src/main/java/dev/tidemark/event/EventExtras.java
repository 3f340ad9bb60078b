package dev.tidemark.event;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What few events carry.
 *
 * @param producer what made its request exactly-once, if the writer gave it: on the first event of the request
 * @param request what is known of that request; only together with {@code producer}
 * @param voided ordinals that were given to refused appends before this event, so that they aren't taken for a loss
 */
public record EventExtras(
        @Nullable Producer producer, @Nullable RequestMark request, List<OrdinalRange> voided) {
    public EventExtras {
        if (request != null && producer == null) {
            throw new IllegalArgumentException("a request is marked for its producer only");
        }
        voided = List.copyOf(voided);
    }

    public EventExtras(@Nullable Producer producer, List<OrdinalRange> voided) {
        this(producer, null, voided);
    }
}
