package dev.tidemark.event;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What few events carry.
 *
 * @param producer what made its request exactly-once, if the writer gave it
 * @param voided ordinals that were given to refused appends before this event, so that they aren't taken for a loss
 */
public record EventExtras(@Nullable Producer producer, List<OrdinalRange> voided) {
    public EventExtras {
        voided = List.copyOf(voided);
    }
}
