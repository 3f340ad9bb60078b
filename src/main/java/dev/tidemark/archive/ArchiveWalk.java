package dev.tidemark.archive;

import dev.tidemark.archive.CheckedFiles.Start;
import dev.tidemark.event.EventId;
import dev.tidemark.event.Finding;
import dev.tidemark.event.Finding.Kind;
import dev.tidemark.event.OrdinalRange;
import dev.tidemark.event.Position;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Judges what {@link ArchiveCheck} reads, excerpt by excerpt, by what came before. Each file starts with a waypoint that says what
 * was archived before it: where that isn't what was counted, something is missing, too much, or another stream's. What a waypoint
 * tells is then taken as a new beginning, so that one fault is found once.
 */
final class ArchiveWalk {
    /** Findings of one kind in one file; the rest is only counted. */
    private static final int ALIKE_MAX = 20;

    private final RollFiles names;
    private final Proven proven;
    private final boolean pruned;
    private final Consumer<Finding> findings;

    private final Map<Integer, CheckedOrdinals> ordinals = new TreeMap<>();
    private final Map<Kind, Integer> alike = new EnumMap<>(Kind.class);
    private final Map<Integer, String> unusable = new HashMap<>();
    private Set<Integer> there = Set.of();
    private int newest = RollFiles.NONE;

    private Position first = Position.ZERO;
    private Position last = Position.ZERO;
    /** Events ever archived, up to here. */
    private long events;

    private long eventsRead;
    /** Cycle that the file before belongs to, and its name; {@link RollFiles#NONE} before the first. */
    private int before = RollFiles.NONE;

    private int beforeName = RollFiles.NONE;
    /** The file before didn't continue the one before it. */
    private boolean beforeDoubted;
    /** Excerpts that couldn't be read since the last waypoint, at least. */
    private long damagedSinceWaypoint;
    /** An event stood there twice since the last waypoint. */
    private boolean repeated;
    /** Damage since the last good event: what it had is explained. */
    private boolean hole;

    // The file that is read.
    private Start file = Start.unusable(0, false, "isn't there");
    private long firstUnproven = Long.MAX_VALUE;
    private boolean again;
    private boolean outOfRangeTold;

    ArchiveWalk(RollFiles names, Proven proven, boolean pruned, Consumer<Finding> findings) {
        this.names = names;
        this.proven = proven;
        this.pruned = pruned;
        this.findings = findings;
    }

    long eventsRead() {
        return eventsRead;
    }

    Position first() {
        return first;
    }

    Position last() {
        return last;
    }

    private String name() {
        return names.fileName(file.cycle());
    }

    private void tell(Kind kind, String of, long excerpt, Position event, String what) {
        findings.accept(new Finding(kind, of, excerpt, event, what));
    }

    /** Tells something of the file that is read; when there is much alike, only how much. */
    private void tellHere(Kind kind, long excerpt, Position event, String what) {
        if (alike.merge(kind, 1, Integer::sum) <= ALIKE_MAX) {
            tell(kind, name(), excerpt, event, what);
        }
    }

    private void tellRest() {
        alike.forEach((kind, count) -> {
            if (count > ALIKE_MAX) {
                tell(kind, name(), Finding.NONE, Position.ZERO, "and " + (count - ALIKE_MAX) + " more like it");
            }
        });
        alike.clear();
    }

    // ---- files

    /** A file that can't be walked at all. */
    void unusable(Start start, boolean isNewest) {
        boolean neverProven = isNewest && proven.cycle() < start.cycle() && proven.by() != Proven.By.SERVER;
        Kind kind = start.unreadable() ? Kind.UNREADABLE : neverProven ? Kind.NOTE : Kind.DAMAGED;
        String more = neverProven ? "; it was never proven to hold anything, and is made again" : "";
        tell(kind, names.fileName(start.cycle()), Finding.NONE, Position.ZERO, start.trouble() + more);
        unusable.put(start.cycle(), start.trouble());
    }

    /**
     * @param contents cycles that the files belong to which can be walked
     * @param newestCycle of the newest one; {@link RollFiles#NONE} if there is none
     */
    void files(Set<Integer> contents, int newestCycle) {
        there = contents;
        newest = newestCycle;
    }

    /** @param lastIndexed number of the last excerpt that the file's index knows */
    void begin(Start start, long lastIndexed) {
        file = start;
        again = before != RollFiles.NONE && before == start.content();
        outOfRangeTold = start.cycle() != start.content();
        firstUnproven = Long.MAX_VALUE;
        if (start.content() == newest && proven.by() != Proven.By.SERVER) {
            boolean marked = proven.cycle() == newest;
            firstUnproven = marked ? proven.count() : Math.max(0, lastIndexed - Recovery.UNFORCED_MAX);
        }
        if (!start.headerGood()) {
            tellHere(
                    Kind.DAMAGED,
                    Finding.NONE,
                    last,
                    "has another header than was written; what follows could still be read");
        }
        if (again) {
            tell(
                    Kind.REPEATED,
                    name(),
                    Finding.NONE,
                    Position.ZERO,
                    "holds again what " + names.fileName(beforeName) + " holds");
        }
    }

    void endOfFile(RollFileScan scan, boolean wanted) {
        if (!wanted && scan.isCutShort()) {
            damaged(
                    scan.next(),
                    "from excerpt " + scan.next() + " on, byte " + scan.place()
                            + ", it can't be read, though its header " + "knows of one at byte "
                            + scan.index().lastPlace() + ": " + scan.trouble());
        }
        if (scan.wrongPlaces() > 0) {
            tellHere(
                    Kind.DAMAGED,
                    scan.firstWrongPlace(),
                    last,
                    "its index leads to wrong places for " + scan.wrongPlaces() + " excerpts, the first is "
                            + scan.firstWrongPlace());
        }
        boolean isProven = scan.next() <= firstUnproven;
        if (!again) {
            missingOrdinals(isProven);
        }
        if (!again && file.content() == proven.cycle() && scan.next() < proven.count()) {
            tell(
                    Kind.MISSING,
                    name(),
                    Finding.NONE,
                    last,
                    "ends with " + scan.next() + " excerpts; " + proven.count() + " were proven");
        }
        if (file.content() == newest && proven.by() != Proven.By.SERVER && !isProven) {
            tell(
                    Kind.NOTE,
                    name(),
                    firstUnproven,
                    Position.ZERO,
                    (proven.by() == Proven.By.NOBODY
                                    ? "wasn't closed cleanly"
                                    : "was written after the last clean stop")
                            + ": what stands from excerpt " + firstUnproven
                            + " on is proven at the next start, and folded again where it isn't good");
        }
        tellRest();
        if (!again) {
            before = file.content();
            beforeName = file.cycle();
        }
    }

    void unreadable(String trouble) {
        tell(Kind.UNREADABLE, name(), Finding.NONE, last, trouble);
        hole = true;
        damagedSinceWaypoint = Long.MAX_VALUE / 2;
        before = file.content();
        beforeName = file.cycle();
    }

    /** Compares the end with what was proven. */
    void end() {
        if (last.isBefore(proven.last())) {
            boolean fileGone = proven.cycle() != RollFiles.NONE && !there.contains(proven.cycle());
            tell(
                    Kind.MISSING,
                    fileGone ? names.fileName(proven.cycle()) : "",
                    Finding.NONE,
                    last,
                    (fileGone ? missing(proven.cycle()) + ": " : "") + "the archive ends at " + id(last) + "; W was "
                            + id(proven.last())
                            + (proven.by() == Proven.By.SERVER ? "" : " at the last clean stop"));
        }
    }

    private String missing(int cycle) {
        return unusable.containsKey(cycle) ? "nothing of it can be read" : "is missing";
    }

    // ---- excerpts

    void damaged(RollFileScan scan) {
        long count = scan.next() - scan.number();
        damaged(
                scan.number(),
                count == 1
                        ? "excerpt " + scan.number() + " at byte " + scan.place() + " is damaged: " + scan.trouble()
                        : "excerpts " + scan.number() + " to " + (scan.next() - 1) + " from byte " + scan.place()
                                + " on can't be read: " + scan.trouble());
        damagedSinceWaypoint += count;
    }

    private void damaged(long number, String what) {
        hole = true;
        damagedSinceWaypoint++;
        boolean isProven = number < firstUnproven;
        tellHere(
                isProven ? Kind.DAMAGED : Kind.NOTE,
                number,
                last,
                what
                        + (last.equals(Position.ZERO) ? "" : "; behind event " + id(last))
                        + (isProven ? "" : "; it was never proven, and is folded again"));
    }

    void excerpt(RollFileScan scan) {
        Excerpt excerpt = scan.excerpt();
        if (again) {
            return;
        }
        if (scan.number() == 0 && !excerpt.isWaypoint()) {
            tellHere(Kind.COUNT, 0, excerpt.key(), "doesn't begin with a waypoint");
        }
        if (excerpt.isEvent()) {
            event(scan.number(), excerpt);
        } else if (excerpt.isWaypoint()) {
            waypoint(scan.number(), excerpt);
        } else if (excerpt.isMissing()) {
            of(excerpt.stripe()).account(excerpt.ordinals());
        }
    }

    private CheckedOrdinals of(int stripe) {
        return ordinals.computeIfAbsent(stripe, s -> new CheckedOrdinals());
    }

    private void event(long number, Excerpt excerpt) {
        CheckedOrdinals stripe = of(excerpt.stripe());
        Position entry = excerpt.entry();
        if (excerpt.compareKey(last) <= 0) {
            damagedSinceWaypoint++;
            repeated = true;
            boolean same = excerpt.compareKey(last) == 0;
            tellHere(
                    Kind.REPEATED,
                    number,
                    excerpt.key(),
                    "excerpt " + number + " is event " + id(excerpt.key())
                            + (same ? " once more" : ", which can't follow " + id(last)));
            return;
        }
        Position id = excerpt.key();
        if (names.cycleOf(id) > file.cycle() && !outOfRangeTold) {
            outOfRangeTold = true;
            tellHere(
                    Kind.SWAPPED,
                    number,
                    id,
                    "excerpt " + number + " is event " + id(id) + ", which belongs into "
                            + names.fileName(names.cycleOf(id)));
        }
        for (OrdinalRange voided : excerpt.voidedOrdinals()) {
            stripe.account(voided);
        }
        if (hole && !stripe.isNext(excerpt.ordinal())) {
            stripe.doubt(excerpt.ordinal() - 1);
        }
        if (!stripe.event(excerpt.ordinal(), id, entry)) {
            tellHere(
                    Kind.REPEATED,
                    number,
                    id,
                    "excerpt " + number + ", event " + id(id) + ", has ordinal " + excerpt.ordinal() + " of stripe "
                            + excerpt.stripe() + ", which another has had");
        }
        hole = false;
        eventsRead++;
        last = id;
        first = first.equals(Position.ZERO) ? id : first;
        events++;
    }

    private void missingOrdinals(boolean isProven) {
        ordinals.forEach((stripe, checked) -> {
            for (OrdinalRange range : checked.takeMissing()) {
                if (!hole) {
                    tellHere(
                            isProven ? Kind.ORDINALS : Kind.NOTE,
                            Finding.NONE,
                            last,
                            "ordinals " + range + " of stripe " + stripe + " have neither an event nor a gap");
                }
            }
        });
    }

    // ---- waypoints

    private void waypoint(long number, Excerpt waypoint) {
        if (number == 0) {
            head(waypoint);
        } else {
            inner(number, waypoint);
        }
        boolean known = waypoint.compareKey(last) == 0 && waypoint.eventsBefore() == events;
        if (repeated) {
            // What the repeated one stands in the place of is missing, before the waypoint's figures are taken.
            missingOrdinals(true);
            repeated = false;
        }
        if (!known) {
            waypoint.ordinalsBefore().forEach((stripe, ordinal) -> of(stripe).doubt(ordinal));
            last = Position.max(last, waypoint.key());
            events = waypoint.eventsBefore();
        }
        hole = false;
        damagedSinceWaypoint = 0;
    }

    private void inner(long number, Excerpt waypoint) {
        if (waypoint.compareKey(last) != 0 && !(hole && waypoint.compareKey(last) > 0)) {
            tellHere(
                    Kind.COUNT,
                    number,
                    last,
                    "the waypoint in excerpt " + number + " stands behind " + id(waypoint.key())
                            + "; what was read ends at " + id(last));
        } else if (isMiscounted(waypoint)) {
            tellHere(Kind.COUNT, number, last, counted("the waypoint in excerpt " + number, waypoint));
        }
    }

    private boolean isMiscounted(Excerpt waypoint) {
        long more = waypoint.eventsBefore() - events;
        return more < 0 || more > damagedSinceWaypoint;
    }

    private String counted(String who, Excerpt waypoint) {
        return who + " says that " + waypoint.eventsBefore() + " events were archived before it; there are " + events;
    }

    /** What stands at the start of a file against all that came before. */
    private void head(Excerpt waypoint) {
        int expected = waypoint.fileBefore();
        if (before == RollFiles.NONE) {
            oldest(waypoint, expected);
        } else if (expected != before && expected != RollFiles.NONE && !there.contains(expected)) {
            gone(waypoint, expected);
        } else if (expected != before) {
            doesNotContinue(waypoint);
        } else if (waypoint.compareKey(last) == 0 && !isMiscounted(waypoint)) {
            beforeDoubted = false;
        } else if (waypoint.compareKey(last) >= 0 && waypoint.eventsBefore() > events) {
            shortBefore(waypoint);
        } else {
            doesNotContinue(waypoint);
        }
    }

    private void oldest(Excerpt waypoint, int expected) {
        if (waypoint.eventsBefore() == 0 && expected == RollFiles.NONE) {
            return;
        }
        String upTo = waypoint.eventsBefore() + " events up to " + id(waypoint.key());
        boolean known = expected != RollFiles.NONE;
        if (pruned) {
            tell(Kind.NOTE, name(), Finding.NONE, waypoint.key(), "is the oldest that is kept; pruned are " + upTo);
        } else {
            tell(
                    Kind.MISSING,
                    known ? names.fileName(expected) : name(),
                    Finding.NONE,
                    waypoint.key(),
                    known
                            ? missing(expected) + ", and all before it: with it " + upTo
                            : "is the oldest; before it there were " + upTo + " in files that are gone");
        }
    }

    private void gone(Excerpt waypoint, int expected) {
        long lost = Math.max(0, waypoint.eventsBefore() - events);
        tell(
                Kind.MISSING,
                names.fileName(expected),
                Finding.NONE,
                last,
                missing(expected) + ": " + lost + " events behind " + id(last) + ", up to " + id(waypoint.key()));
    }

    /** The file before is shorter than what follows says. */
    private void shortBefore(Excerpt waypoint) {
        if (damagedSinceWaypoint > 0) {
            return;
        }
        long lost = waypoint.eventsBefore() - events;
        if (beforeDoubted) {
            foreign();
            return;
        }
        tell(
                Kind.MISSING,
                names.fileName(beforeName),
                Finding.NONE,
                last,
                "lacks its end: " + lost + " events behind " + id(last) + ", up to " + id(waypoint.key()) + ", as "
                        + name() + " says");
    }

    private void doesNotContinue(Excerpt waypoint) {
        if (beforeDoubted) {
            foreign();
            return;
        }
        beforeDoubted = true;
        tellHere(
                Kind.SWAPPED,
                0,
                last,
                "doesn't continue " + names.fileName(beforeName) + ": it is written behind "
                        + waypoint.eventsBefore() + " events, the last one " + id(waypoint.key()) + "; there are "
                        + events
                        + " up to " + id(last));
    }

    /** Neither continues the one before nor is continued by the next. */
    private void foreign() {
        beforeDoubted = false;
        tell(
                Kind.SWAPPED,
                names.fileName(beforeName),
                Finding.NONE,
                Position.ZERO,
                "isn't continued by " + name()
                        + " either: it is another stream's, another generation's or an old copy");
    }

    /** An event id where the position is one. */
    static String id(Position position) {
        if (position.equals(Position.ZERO)) {
            return "nothing";
        }
        return EventId.fits(position) ? EventId.of(position).toString() : position.entryId();
    }
}
