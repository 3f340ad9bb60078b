package dev.tidemark.archive;

import dev.tidemark.archive.ExcerptReader.Found;
import dev.tidemark.event.Position;
import org.jspecify.annotations.Nullable;

/**
 * What an archive no longer holds, as its waypoints tell.
 *
 * @param events removed with whole files
 * @param bytes of these files
 * @param earliest the oldest event that is there
 * @param atTheFront events that were counted and stood in the oldest files, which are gone
 * @param inTheMiddle events that were counted and stood in files between those that are there
 */
record Removed(long events, long bytes, Position earliest, long atTheFront, long inTheMiddle) {
    /** Above this many files only the oldest are looked at: each costs a read. */
    private static final int FILES_CHECKED_MAX = 512;

    static Removed find(Lease lease) {
        ExcerptReader reader = lease.reader();
        long events = 0;
        long bytes = 0;
        long atTheFront = 0;
        long inTheMiddle = 0;
        Position earliest = Position.ZERO;
        int files = lease.files();
        for (int file = 0; file < files; file++) {
            Totals before = Totals.at(reader, lease.cycle(file), 0);
            int fileBefore = before == null ? RollFiles.NONE : reader.excerpt().fileBefore();
            if (before != null && (file == 0 || fileBefore != lease.cycle(file - 1))) {
                Totals held = file == 0 ? Totals.NONE : Totals.end(lease, file - 1);
                events += Math.max(0, before.events - held.events);
                bytes += Math.max(0, before.bytes - held.bytes);
                long counted = Math.max(0, before.counted - held.counted);
                atTheFront += file == 0 ? counted : 0;
                inTheMiddle += file == 0 ? 0 : counted;
            }
            if (earliest.equals(Position.ZERO)) {
                earliest = firstEvent(reader, lease.cycle(file), lease.count(file));
            } else if (files > FILES_CHECKED_MAX) {
                break;
            }
        }
        return new Removed(events, bytes, earliest, atTheFront, inTheMiddle);
    }

    /** The first event of a file; {@link Position#ZERO} if it has none that can be read. */
    static Position firstEvent(ExcerptReader reader, int cycle, long count) {
        for (long i = 0; i >= 0 && i < count; ) {
            Found found = reader.read(cycle, i);
            if (found == Found.EXCERPT && reader.excerpt().isEvent()) {
                return reader.excerpt().key();
            }
            i = found == Found.NOTHING ? reader.jump(cycle, i, count) : i + 1;
        }
        return Position.ZERO;
    }

    /** What was archived ever, up to a place; {@code counted} leaves out what was taken away from behind an end. */
    private record Totals(long events, long bytes, long counted) {
        static final Totals NONE = new Totals(0, 0, 0);

        static @Nullable Totals at(ExcerptReader reader, int cycle, long index) {
            boolean there = reader.read(cycle, index) == Found.EXCERPT
                    && reader.excerpt().isWaypoint();
            return there ? of(reader.excerpt()) : null;
        }

        private static Totals of(Excerpt waypoint) {
            long counted = waypoint.countsBefore().values().stream()
                    .mapToLong(StripeCount::events)
                    .sum();
            return new Totals(waypoint.eventsBefore(), waypoint.earlierBytes(), counted);
        }

        /** Up to the end of a file: what its last waypoint says and the events behind that. */
        static Totals end(Lease lease, int file) {
            ExcerptReader reader = lease.reader();
            int cycle = lease.cycle(file);
            long count = lease.count(file);
            Position last = Position.ZERO;
            Totals totals = NONE;
            for (long i = Math.max(0, count - Recovery.WINDOW); i < count; i++) {
                if (reader.read(cycle, i) != Found.EXCERPT) {
                    break;
                }
                if (reader.excerpt().isWaypoint()) {
                    totals = of(reader.excerpt());
                } else if (reader.excerpt().isEvent()) {
                    totals = new Totals(totals.events + 1, totals.bytes, totals.counted + 1);
                }
                last = reader.excerpt().key();
            }
            return last.equals(Position.ZERO)
                    ? totals
                    : new Totals(totals.events, totals.bytes + reader.end(), totals.counted);
        }
    }
}
