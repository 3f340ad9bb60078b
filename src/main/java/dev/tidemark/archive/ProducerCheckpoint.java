package dev.tidemark.archive;

import dev.tidemark.event.StoredRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Cuts the requests that are remembered at one place of an archive into excerpts of a moderate size, and joins them again. */
final class ProducerCheckpoint {
    /** A part ends behind the request that reaches it. */
    static final int PART_BYTES = 32 << 10;

    private ProducerCheckpoint() {}

    /**
     * One excerpt of a checkpoint.
     *
     * @param stripe whose requests these are
     * @param number from 0
     * @param of how many parts the checkpoint has
     */
    record Part(int stripe, int number, int of, List<StoredRequest> requests) {
        int bytesMax() {
            int bytes = ExcerptCodec.PRODUCERS_BYTES;
            for (StoredRequest request : requests) {
                bytes += RequestBytes.bytesMax(request);
            }
            return bytes;
        }
    }

    /** At least one part: a checkpoint may say that nothing is remembered. */
    static List<Part> parts(Map<Integer, List<StoredRequest>> requests) {
        List<Part> cut = new ArrayList<>();
        requests.forEach((stripe, ofStripe) -> cut(stripe, ofStripe, cut));
        if (cut.isEmpty()) {
            cut.add(new Part(0, 0, 1, List.of()));
        }
        return cut.stream()
                .map(part -> new Part(part.stripe, part.number, cut.size(), part.requests))
                .toList();
    }

    private static void cut(int stripe, List<StoredRequest> requests, List<Part> cut) {
        List<StoredRequest> part = new ArrayList<>();
        int bytes = 0;
        for (StoredRequest request : requests) {
            part.add(request);
            bytes += RequestBytes.bytesMax(request);
            if (bytes >= PART_BYTES) {
                cut.add(new Part(stripe, cut.size(), 0, part));
                part = new ArrayList<>();
                bytes = 0;
            }
        }
        if (!part.isEmpty()) {
            cut.add(new Part(stripe, cut.size(), 0, part));
        }
    }

    /** Takes parts as they are read; what was cut short by a crash is never whole. */
    static final class Join {
        private final List<Part> parts = new ArrayList<>();

        /** All parts, once the last one is there; null before. */
        @Nullable
        List<Part> add(Part part) {
            if (part.number == 0) {
                parts.clear();
            }
            if (part.number != parts.size()) {
                parts.clear();
                return null;
            }
            parts.add(part);
            return parts.size() == part.of ? List.copyOf(parts) : null;
        }
    }
}
