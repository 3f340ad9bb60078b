package dev.tidemark.http;

import dev.tidemark.event.Chunk;
import dev.tidemark.event.Position;
import dev.tidemark.event.Slice;
import java.util.List;

/** Walks over the events of some slices, one by one, in either direction; can stop anywhere and go on later. */
final class EventRun {
    private final List<Slice> slices;
    private final boolean descending;
    private final int step;

    private int slice;
    private int index;

    EventRun(List<Slice> slices, boolean descending) {
        this.slices = slices;
        this.descending = descending;
        step = descending ? -1 : 1;
        slice = descending ? slices.size() : -1;
        nextSlice();
    }

    private void nextSlice() {
        do {
            slice += step;
        } while (slice >= 0 && slice < slices.size() && slices.get(slice).isEmpty());
        if (!atEnd()) {
            Slice now = slices.get(slice);
            index = descending ? now.to() - 1 : now.from();
        }
    }

    /** Whether there is no event here any more. */
    boolean atEnd() {
        return slice < 0 || slice >= slices.size();
    }

    Chunk chunk() {
        return slices.get(slice).chunk();
    }

    /** Where the event is in {@link #chunk}. */
    int index() {
        return index;
    }

    Position position() {
        return chunk().position(index);
    }

    void advance() {
        Slice now = slices.get(slice);
        index += step;
        if (index < now.from() || index >= now.to()) {
            nextSlice();
        }
    }
}
