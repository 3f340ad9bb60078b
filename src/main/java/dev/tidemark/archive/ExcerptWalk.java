package dev.tidemark.archive;

import dev.tidemark.event.Gap;
import dev.tidemark.event.Position;

/**
 * Walks an archive from a place up to W, over files and holes, and says what is missing. It iterates the files itself: where the
 * queue library sees an end, the next file's head tells whether something was lost.
 */
final class ExcerptWalk {
    /** What comes next. */
    enum Step {
        /** An event, in {@link #excerpt}. */
        EVENT,
        /** Something missing before what follows: {@link #gap}. */
        GAP,
        END
    }

    private final Lease lease;
    private final ExcerptReader reader;
    private final Position after;
    private int file;
    private long index;
    private Position seen;
    private boolean hole;
    private boolean eventIsNext;
    private Gap gap = new Gap(Position.ZERO, Position.ZERO, Gap.Reason.DAMAGED);

    /** @param after nothing at or below it is given */
    ExcerptWalk(Lease lease, Slot start, Position after) {
        this.lease = lease;
        reader = lease.reader();
        this.after = after;
        seen = after;
        file = lease.fileOf(start.cycle());
        index = start.index();
    }

    /** Valid until the next step. */
    Excerpt excerpt() {
        return reader.excerpt();
    }

    Gap gap() {
        return gap;
    }

    /** The place behind the last event or gap that was given. */
    Slot place() {
        return new Slot(lease.cycle(Math.min(file, lease.files() - 1)), index);
    }

    Step next() {
        if (eventIsNext) {
            eventIsNext = false;
            return event();
        }
        while (file < lease.files()) {
            if (lease.isNewest(file) && index >= lease.published().count()) {
                file = lease.files();
                break;
            }
            switch (reader.read(lease.cycle(file), index)) {
                case EXCERPT -> {
                    index++;
                    Step step = take();
                    if (step != Step.END) {
                        return step;
                    }
                }
                case DAMAGED -> {
                    lease.damaged(file, "excerpt " + index + " is damaged");
                    index++;
                    hole = true;
                }
                case NOTHING -> leave();
            }
        }
        // W is an event's id: whoever reaches the end without it has missed something.
        return damagedUpTo(lease.published().watermark(), Step.END);
    }

    /** What the excerpt that was read is to a reader; {@link Step#END} if nothing. */
    private Step take() {
        Excerpt excerpt = reader.excerpt();
        if (excerpt.isEvent()) {
            if (excerpt.compareKey(seen) <= 0) {
                // What couldn't be read before it lies below what the reader has.
                hole = false;
                return Step.END;
            }
            if (hole) {
                Step step = damagedUpTo(excerpt.key().previous(), Step.EVENT);
                eventIsNext = step == Step.GAP;
                return step == Step.GAP ? step : event();
            }
            return event();
        }
        if (excerpt.isWaypoint()) {
            boolean oldest = file == 0 && index == 1;
            return oldest || excerpt.compareKey(seen) <= 0 ? Step.END : damagedUpTo(excerpt.key(), Step.END);
        }
        return excerpt.isLost() ? lost(excerpt) : Step.END;
    }

    private Step event() {
        seen = reader.excerpt().key();
        return Step.EVENT;
    }

    private Step lost(Excerpt excerpt) {
        // Where order isn't final on arrival it may reach below the event before it, and then a reader that starts
        // there is told all of it.
        boolean behind = excerpt.compareKey(excerpt.missingAfter()) <= 0;
        Position from = behind ? Position.max(excerpt.missingAfter(), after) : excerpt.missingAfter();
        Position to = excerpt.missingThrough();
        if (!to.isAfter(from) || !to.isAfter(after)) {
            return Step.END;
        }
        gap = new Gap(from, to, Gap.Reason.LOST);
        return Step.GAP;
    }

    private Step damagedUpTo(Position through, Step otherwise) {
        hole = false;
        if (!through.isAfter(seen)) {
            return otherwise;
        }
        gap = new Gap(seen, through, Gap.Reason.DAMAGED);
        seen = through;
        return Step.GAP;
    }

    /** Nothing more is found in the file: it ends here, or has a hole. */
    private void leave() {
        boolean newest = lease.isNewest(file);
        Position nextHead = newest ? null : file + 1 < lease.files() ? lease.head(file + 1) : Position.ZERO;
        if (nextHead != null && !nextHead.isAfter(seen) && !hole) {
            nextFile();
            return;
        }
        long count = lease.count(file);
        if (index < count) {
            lease.damaged(file, "excerpts from " + index + " on can't be read");
            hole = true;
            long good = reader.jump(lease.cycle(file), index, count);
            if (good >= 0) {
                index = good;
                return;
            }
        }
        hole |= nextHead == null;
        nextFile();
    }

    private void nextFile() {
        file++;
        index = 0;
    }
}
