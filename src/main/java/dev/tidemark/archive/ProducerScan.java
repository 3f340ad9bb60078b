package dev.tidemark.archive;

import dev.tidemark.archive.ExcerptReader.Found;
import dev.tidemark.event.Position;
import dev.tidemark.event.StoredRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Reads the requests of producers from an archive: the last checkpoint, and the events with a producer behind it. What can't be read
 * is passed over: the requests in it are forgotten, as readers are told that its events are. One thread.
 */
final class ProducerScan {
    private final Lease lease;
    private final ExcerptReader reader;
    private final ProducerCheckpoint.Join join = new ProducerCheckpoint.Join();
    private final Map<Integer, List<StoredRequest>> found = new TreeMap<>();

    ProducerScan(Lease lease) {
        this.lease = lease;
        reader = lease.reader();
    }

    /** By stripe, oldest first. */
    Map<Integer, List<StoredRequest>> run() {
        Position from = lease.published().producersFrom();
        Position through = lease.published().producersThrough();
        if (through.equals(Position.ZERO) || lease.files() == 0) {
            return found;
        }
        Slot start = new ArchiveSearch(lease).firstAbove(from.previous());
        long index = start.index();
        for (int file = lease.fileOf(start.cycle()); file < lease.files(); file++) {
            if (scan(lease.cycle(file), index, lease.count(file), through)) {
                break;
            }
            index = 0;
        }
        return found;
    }

    /** True when all was seen. */
    private boolean scan(int cycle, long start, long count, Position through) {
        long index = start;
        while (index >= 0 && index < count) {
            Found what = reader.read(cycle, index);
            if (what == Found.EXCERPT) {
                if (reader.excerpt().compareKey(through) > 0) {
                    return true;
                }
                take(reader.excerpt());
            }
            index = what == Found.NOTHING ? reader.jump(cycle, index, count) : index + 1;
        }
        return false;
    }

    private void take(Excerpt excerpt) {
        if (excerpt.isProducers()) {
            List<ProducerCheckpoint.Part> parts = join.add(excerpt.producersPart());
            if (parts != null) {
                found.clear();
                for (ProducerCheckpoint.Part part : parts) {
                    if (!part.requests().isEmpty()) {
                        ofStripe(part.stripe()).addAll(part.requests());
                    }
                }
            }
        } else if (excerpt.isEvent() && excerpt.hasProducer()) {
            StoredRequest request = excerpt.storedRequest();
            if (request != null) {
                ofStripe(excerpt.stripe()).add(request);
            }
        }
    }

    private List<StoredRequest> ofStripe(int stripe) {
        return found.computeIfAbsent(stripe, s -> new ArrayList<>());
    }
}
