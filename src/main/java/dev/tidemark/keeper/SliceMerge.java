package dev.tidemark.keeper;

import dev.tidemark.event.Chunk;
import dev.tidemark.event.Position;
import dev.tidemark.event.Slice;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Merges events of several stripes, each in id order, into one list in id order. */
public final class SliceMerge {
    private final List<List<Slice>> sources;
    private final int[] slice;
    private final int[] event;
    private final List<Slice> merged = new ArrayList<>();
    private @Nullable Chunk runChunk;
    private int runFrom;
    private int runTo;

    private SliceMerge(List<List<Slice>> sources) {
        this.sources = sources;
        slice = new int[sources.size()];
        event = new int[sources.size()];
    }

    /** The oldest events of all, at most {@code eventsMax}, ending behind the one that reaches {@code bytesMax} of JSON. */
    public static List<Slice> oldest(List<List<Slice>> sources, int eventsMax, long bytesMax) {
        return sources.size() == 1 ? sources.get(0) : new SliceMerge(sources).rising(eventsMax, bytesMax);
    }

    /** The newest events of all, as in {@link #oldest}, in rising order. */
    static List<Slice> newest(List<List<Slice>> sources, int eventsMax, long bytesMax) {
        return sources.size() == 1 ? sources.get(0) : new SliceMerge(sources).falling(eventsMax, bytesMax);
    }

    private List<Slice> rising(int eventsMax, long bytesMax) {
        for (int s = 0; s < sources.size(); s++) {
            event[s] = sources.get(s).isEmpty() ? 0 : sources.get(s).get(0).from();
        }
        int wanted = eventsMax;
        long room = bytesMax;
        while (wanted > 0 && room > 0) {
            int next = -1;
            for (int s = 0; s < sources.size(); s++) {
                if (slice[s] < sources.get(s).size() && (next < 0 || isBefore(s, next))) {
                    next = s;
                }
            }
            if (next < 0) {
                break;
            }
            Slice from = sources.get(next).get(slice[next]);
            int i = event[next];
            if (from.chunk() != runChunk || i != runTo) {
                endRun();
                runChunk = from.chunk();
                runFrom = i;
            }
            runTo = i + 1;
            room -= from.chunk().jsonLength(i);
            wanted--;
            step(next, from, i);
        }
        endRun();
        return merged;
    }

    private void step(int source, Slice from, int i) {
        if (i + 1 < from.to()) {
            event[source] = i + 1;
        } else {
            slice[source]++;
            List<Slice> rest = sources.get(source);
            event[source] =
                    slice[source] < rest.size() ? rest.get(slice[source]).from() : 0;
        }
    }

    private List<Slice> falling(int eventsMax, long bytesMax) {
        for (int s = 0; s < sources.size(); s++) {
            slice[s] = sources.get(s).size() - 1;
            event[s] = slice[s] < 0 ? 0 : sources.get(s).get(slice[s]).to() - 1;
        }
        int wanted = eventsMax;
        long room = bytesMax;
        while (wanted > 0 && room > 0) {
            int next = -1;
            for (int s = 0; s < sources.size(); s++) {
                if (slice[s] >= 0 && (next < 0 || isBefore(next, s))) {
                    next = s;
                }
            }
            if (next < 0) {
                break;
            }
            Slice from = sources.get(next).get(slice[next]);
            int i = event[next];
            if (from.chunk() != runChunk || i != runFrom - 1) {
                endRun();
                runChunk = from.chunk();
                runTo = i + 1;
            }
            runFrom = i;
            room -= from.chunk().jsonLength(i);
            wanted--;
            stepBack(next, from, i);
        }
        endRun();
        Collections.reverse(merged);
        return merged;
    }

    private void stepBack(int source, Slice from, int i) {
        if (i > from.from()) {
            event[source] = i - 1;
        } else {
            slice[source]--;
            event[source] = slice[source] < 0
                    ? 0
                    : sources.get(source).get(slice[source]).to() - 1;
        }
    }

    private boolean isBefore(int left, int right) {
        Chunk leftChunk = sources.get(left).get(slice[left]).chunk();
        Chunk rightChunk = sources.get(right).get(slice[right]).chunk();
        return Position.compare(
                        leftChunk.ms(event[left]),
                        leftChunk.seq(event[left]),
                        rightChunk.ms(event[right]),
                        rightChunk.seq(event[right]))
                < 0;
    }

    private void endRun() {
        if (runChunk != null) {
            merged.add(new Slice(runChunk, runFrom, runTo));
            runChunk = null;
        }
    }
}
