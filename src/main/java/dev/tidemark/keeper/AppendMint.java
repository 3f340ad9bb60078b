package dev.tidemark.keeper;

import dev.tidemark.event.Event;
import dev.tidemark.event.EventExtras;
import dev.tidemark.event.EventId;
import dev.tidemark.event.NewEvent;
import dev.tidemark.event.OrdinalRange;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.Problem.Stored;
import dev.tidemark.event.StripeId;
import dev.tidemark.event.Units;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Gives the events of an append their ids and ordinals, or refuses it: for imported ids that aren't above the last one, or claimed times
 * that the acceptance window doesn't take. Ordinals of what wasn't stored are given again or voided here. Owned by the
 * {@link StripeKeeper}; on the keeper's event loop.
 */
final class AppendMint {
    private final StripeId stripe;
    private final KeeperStream stream;
    private final Keeper keeper;
    private final Mint mint;
    private final StreamClock clock;
    private final VoidedOrdinals voided = new VoidedOrdinals();
    private long nextOrdinal = 1;

    AppendMint(StripeId stripe, KeeperStream stream, Keeper keeper, Mint mint, StreamClock clock) {
        this.stripe = stripe;
        this.stream = stream;
        this.keeper = keeper;
        this.mint = mint;
        this.clock = clock;
    }

    /** Ids and ordinals begin behind what an opening found, and behind what may be lost: so all who count ordinals see the hole. */
    void open(StripeOpening.Opened opened, StripeOpening start) {
        mint.startAfter(opened.lastPossible());
        clock.reached(Math.max(mint.last().ms(), keeper.reservation().startMs()));
        if (stream.createdHere()) {
            // A stream of that name may have been deleted: its ids aren't given again, even while they are ahead of the
            // clock.
            clock.reached(keeper.reservation().usedMs() + 1);
        }
        nextOrdinal = opened.lastOrdinal() + 1;
        if (opened.mayHaveLost()) {
            // It takes an ordinal that no event will have.
            stream.passedOver(stripe.index(), nextOrdinal);
            nextOrdinal++;
        }
        if (opened.sorted() && !start.missingThrough().equals(Position.ZERO)) {
            stream.lostAtStart(
                    stripe.index(), new StartLoss(start.missingAfter(), start.missingThrough(), nextOrdinal - 1));
        }
    }

    /** Whether the append's ids stay below the reservation; if not, it is being raised. */
    boolean isReserved(PendingAppend append) {
        int count = append.events.size();
        if (!mint.staysBelow(keeper.reservation().highMs(), clock.nowMs(), count)) {
            keeper.reservation().raise(Math.max(clock.nowMs(), mint.last().ms()) + count);
        }
        return mint.staysBelow(keeper.reservation().highMs(), clock.nowMs(), count);
    }

    /**
     * Gives ids and ordinals to all events of an append; false if it was refused.
     *
     * @param sorting decides their places; null if order is final on arrival
     */
    boolean mint(PendingAppend append, @Nullable Sorting sorting) {
        if (append.events.get(0).importId() != null && !importable(append, sorting)) {
            return false;
        }
        if (sorting != null && !isAccepted(append, sorting)) {
            return false;
        }
        List<OrdinalRange> carried = voided.takeUnwritten();
        List<Event> minted = new ArrayList<>(append.events.size());
        for (NewEvent event : append.events) {
            Position entry = nextId(event, sorting);
            Acceptance.Place place = sorting == null ? new Acceptance.Place(entry, false) : sorting.place(event, entry);
            EventExtras extras = carried.isEmpty() ? null : new EventExtras(null, carried);
            carried = List.of();
            minted.add(new Event(
                    place.id(),
                    entry,
                    nextOrdinal++,
                    event.time(),
                    place.late(),
                    event.type(),
                    extras,
                    event.payload()));
        }
        append.minted(append.marked(minted));
        clock.reached(mint.last().ms());
        keeper.reservation().used(mint.last().ms());
        return true;
    }

    private boolean isAccepted(PendingAppend append, Sorting sorting) {
        sorting.advance();
        Problem refusal = sorting.refusalOrNull(append.events);
        if (refusal != null) {
            keeper.counters().timesRefused.add(append.events.size());
            append.fail(refusal);
        }
        return refusal == null;
    }

    private Position nextId(NewEvent event, @Nullable Sorting sorting) {
        if (event.importId() == null) {
            long finalMs = sorting == null ? 0 : sorting.frontier().ms();
            return mint.next(Math.max(clock.nowMs(), finalMs + 1));
        }
        Position id = event.importId().position();
        mint.imported(id);
        return id;
    }

    private boolean importable(PendingAppend append, @Nullable Sorting sorting) {
        if (stream.settings().acceptanceWindowMs() > 0) {
            append.fail(Problem.badRequest(
                            "ids can't be imported into a stream with an acceptance window (acceptance_window is "
                                    + Units.formatDuration(stream.settings().acceptanceWindowMs()) + ")")
                    .with("stored", Stored.NO.text()));
            return false;
        }
        if (stream.stripes() > 1) {
            append.fail(Problem.badRequest("ids can't be imported into a stream with several stripes (stripes is "
                            + stream.stripes() + "): their frontier follows the clock")
                    .with("stored", Stored.NO.text()));
            return false;
        }
        Position last = mint.last();
        if (sorting != null) {
            sorting.advance();
            last = Position.max(last, sorting.frontier());
        }
        for (NewEvent event : append.events) {
            Position id = Objects.requireNonNull(event.importId()).position();
            if (!id.isAfter(last) || id.ms() > keeper.clock().wallMs()) {
                append.fail(new Problem(
                                Problem.Kind.NONMONOTONIC,
                                "id " + event.importId() + " can't be imported: it must be above the stream's last id "
                                        + shown(last) + " and not ahead of the clock")
                        .with("last", shown(last))
                        .with("stored", Stored.NO.text()));
                return false;
            }
            last = id;
        }
        return true;
    }

    private static String shown(Position position) {
        return EventId.fits(position) ? EventId.of(position).toString() : "none";
    }

    // ---- ordinals of what wasn't stored ----

    /**
     * A minted append was refused: its ordinals are given again, or carried as voided by the next one.
     *
     * @param noneInFlight whether nothing was minted behind it that may still be stored
     */
    void refused(PendingAppend append, boolean noneInFlight) {
        giveBackCarried(append);
        voided.add(append.ordinals());
        if (noneInFlight) {
            nextOrdinal = voided.takeBack(nextOrdinal);
        }
        stream.voided(stripe.index(), voided.all());
    }

    /**
     * The stripe is fenced, and nothing is in flight: goes on behind the fence and the newest ordinal.
     *
     * @param notStored minted appends that Redis doesn't have; what stands behind some of them is stored
     */
    void resumed(long lastOrdinal, List<PendingAppend> notStored) {
        keeper.reservation().used(mint.last().ms());
        nextOrdinal = Math.max(lastOrdinal, stream.passedOver(stripe.index())) + 1;
        for (PendingAppend append : notStored) {
            giveBackCarried(append);
            if (append.ordinals().last() < nextOrdinal) {
                voided.add(append.ordinals());
            }
        }
        voided.givenFrom(nextOrdinal);
        stream.voided(stripe.index(), voided.all());
    }

    private void giveBackCarried(PendingAppend append) {
        EventExtras extras = append.minted.get(0).extras();
        if (extras != null) {
            voided.giveBack(extras.voided());
        }
    }

    /** Forgets what was voided at or below {@code ordinal}: the archive accounts for it. */
    void archived(long ordinal) {
        voided.archived(ordinal);
        stream.voided(stripe.index(), voided.all());
    }

    /** How many ordinals are voided that the archive doesn't account for yet. */
    long voidedCount() {
        return voided.all().stream().mapToLong(OrdinalRange::count).sum();
    }

    /** How many voided ordinals the archive has come to account for since the stripe was opened. */
    long voidedArchived() {
        return voided.archivedCount();
    }
}
