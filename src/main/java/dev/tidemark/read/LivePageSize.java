package dev.tidemark.read;

import dev.tidemark.event.Chunk;
import dev.tidemark.event.ChunkBuilder;
import dev.tidemark.event.Event;
import dev.tidemark.event.Generation;
import dev.tidemark.livelog.LiveLogPage;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * How many entries one call to the live log asks for: it can't be bounded by bytes, so the count follows the size of the events seen
 * last. The first call is small, and no call is large.
 */
final class LivePageSize {
    private static final int FIRST = 16;
    private static final int MAX = 128;

    private int countMax = FIRST;
    private long eventBytes = 1;

    int count(PageBuilder page) {
        long fitting = Math.max(1, page.bytesRoom() / eventBytes);
        return (int) Math.min(Math.min(fitting, page.eventsRoom()), countMax);
    }

    void learn(LiveLogPage live) {
        long bytes = 0;
        for (Event event : live.events()) {
            bytes += bytes(event);
        }
        if (!live.events().isEmpty()) {
            eventBytes = Math.max(1, bytes / live.events().size());
        }
        countMax = Math.min(MAX, countMax * 2);
    }

    /** As many of the events, from the front, as fit on the page: at least one if there is one. */
    static List<Event> fitting(List<Event> events, PageBuilder page) {
        long room = page.bytesRoom();
        int taken = 0;
        while (taken < events.size() && taken < page.eventsRoom() && room > 0) {
            room -= bytes(events.get(taken));
            taken++;
        }
        return events.subList(0, taken);
    }

    private static long bytes(Event event) {
        byte[] payload = event.payload();
        return ChunkBuilder.slabBytesMax(event.type(), payload, 0, payload.length);
    }

    /** @param events in rising order, or in falling order with {@code reversed} */
    static Chunk chunk(Generation generation, List<Event> events, boolean reversed) {
        List<Event> rising = events;
        if (reversed) {
            rising = new ArrayList<>(events);
            Collections.reverse(rising);
        }
        ChunkBuilder builder = new ChunkBuilder(generation, 0, Math.max(1, rising.size()), 4 << 10);
        rising.forEach(builder::add);
        return builder.view();
    }
}
