package dev.tidemark.archive;

import dev.tidemark.archive.ExcerptReader.Found;
import dev.tidemark.event.Position;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/** Reads the ordinals that an archive accounts for behind a place. What can't be read is passed over. One thread. */
final class OrdinalScan {
    private final Lease lease;
    private final ExcerptReader reader;
    private Position entry = Position.ZERO;

    OrdinalScan(Lease lease) {
        this.lease = lease;
        reader = lease.reader();
    }

    /** By stripe. */
    Map<Integer, ArchivedOrdinals> above(Position after) {
        Map<Integer, ArchivedOrdinals.Collected> found = new TreeMap<>();
        each(after, excerpt -> {
            ArchivedOrdinals.Collected stripe =
                    found.computeIfAbsent(excerpt.stripe(), s -> new ArchivedOrdinals.Collected());
            if (excerpt.isEvent()) {
                found.values().forEach(ArchivedOrdinals.Collected::told);
                stripe.event(excerpt.ordinal(), excerpt.entry());
            } else {
                stripe.add(excerpt.ordinals());
            }
            if (excerpt.isLost()) {
                stripe.lost(excerpt.missingAfter(), excerpt.missingThrough());
            }
        });
        Map<Integer, ArchivedOrdinals> done = new TreeMap<>();
        found.forEach((stripe, collected) -> done.put(stripe, collected.done()));
        return done;
    }

    /** Entry id of an event; {@link Position#ZERO} if it isn't there. */
    Position entryOf(int stripe, long ordinal, Position after) {
        each(after, excerpt -> {
            if (excerpt.isEvent() && excerpt.stripe() == stripe && excerpt.ordinal() == ordinal) {
                entry = excerpt.entry();
            }
        });
        return entry;
    }

    private void each(Position after, Consumer<Excerpt> taker) {
        Slot start = new ArchiveSearch(lease).startAfter(after);
        long index = start.index();
        for (int file = lease.fileOf(start.cycle()); file < lease.files(); file++) {
            long count = lease.isNewest(file) ? lease.published().count() : lease.count(file);
            each(lease.cycle(file), index, count, taker);
            index = 0;
        }
    }

    private void each(int cycle, long start, long count, Consumer<Excerpt> taker) {
        long index = start;
        while (index >= 0 && index < count) {
            Found what = reader.read(cycle, index);
            if (what == Found.EXCERPT
                    && (reader.excerpt().isEvent() || reader.excerpt().isMissing())) {
                taker.accept(reader.excerpt());
            }
            index = what == Found.NOTHING ? reader.jump(cycle, index, count) : index + 1;
        }
    }
}
