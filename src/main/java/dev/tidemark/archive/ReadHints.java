package dev.tidemark.archive;

import dev.tidemark.event.Position;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Where reads ended lately, so that the one who reads on doesn't search again. Any thread; a place that is forgotten costs a search.
 */
final class ReadHints {
    private static final int SLOTS = 64;

    private record Hint(Position after, Slot slot) {}

    private final AtomicReferenceArray<Hint> hints = new AtomicReferenceArray<>(SLOTS);

    void remember(Position after, Slot slot) {
        hints.set(slotOf(after), new Hint(after, slot));
    }

    /** Where what follows {@code after} starts, or null. */
    @Nullable
    Slot find(Position after) {
        Hint hint = hints.get(slotOf(after));
        return hint != null && hint.after.equals(after) ? hint.slot : null;
    }

    private static int slotOf(Position position) {
        int hash = Long.hashCode(position.ms() * 0x9e3779b97f4a7c15L + position.seq());
        return (hash ^ (hash >>> 16)) & (SLOTS - 1);
    }
}
