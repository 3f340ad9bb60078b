package dev.tidemark.read;

import dev.tidemark.archive.ArchivePage;
import dev.tidemark.event.Event;
import dev.tidemark.event.EventId;
import dev.tidemark.event.Gap;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.keeper.StreamSnapshot;
import dev.tidemark.livelog.LiveLogException;
import io.vertx.core.Future;

/** One event by its id, from wherever it is. Stateless. */
final class EventRead {
    private EventRead() {}

    /** Fails with not found if there never was one, as far as that is known, and expired if it is gone. */
    static Future<Event> read(StreamSource source, EventId id) {
        if (source.isDeleted()) {
            return Future.failedFuture(source.deleted());
        }
        return source.open().compose(opened -> find(source, id, opened));
    }

    private static Future<Event> find(StreamSource source, EventId id, boolean opened) {
        Position position = id.position();
        Position before = position.previous();
        StreamSnapshot snapshot = source.snapshot();
        if (position.isBefore(source.archive().earliest())) {
            return new Neighbours(source)
                    .removed(before, -1, Position.MAX)
                    .compose(gap ->
                            Future.failedFuture(gap.isPresent() ? gone(source, id, gap.get()) : none(source, id)));
        }
        if (snapshot.covers(before)) {
            Event found = snapshot.find(position);
            return found == null ? Future.failedFuture(none(source, id)) : Future.succeededFuture(found);
        }
        if (!position.isAfter(source.watermark())) {
            return source.archived(before, position, 1, Long.MAX_VALUE).compose(page -> archived(source, id, page));
        }
        if (!snapshot.isOpen()) {
            return opened ? read(source, id) : Future.failedFuture(source.away());
        }
        return live(source, id);
    }

    private static Future<Event> archived(StreamSource source, EventId id, ArchivePage page) {
        if (page.events().count() > 0) {
            return Future.succeededFuture(page.events().event(0));
        }
        return Future.failedFuture(
                page.gaps().isEmpty()
                        ? none(source, id)
                        : gone(source, id, page.gaps().get(0)));
    }

    private static Future<Event> live(StreamSource source, EventId id) {
        Position position = id.position();
        Position watermark = source.watermark();
        return source.live(position.previous(), position, 1)
                .compose(live -> {
                    if (!position.isAfter(source.watermarkAgain(watermark))) {
                        return read(source, id);
                    }
                    return live.events().isEmpty()
                            ? Future.failedFuture(none(source, id))
                            : Future.succeededFuture(live.events().get(0));
                })
                .recover(failure -> Future.failedFuture(failure instanceof LiveLogException ? source.away() : failure));
    }

    private static Problem none(StreamSource source, EventId id) {
        return Problem.notFound("stream '" + source.stream().name() + "' has no event " + id);
    }

    private static Problem gone(StreamSource source, EventId id, Gap gap) {
        if (gap.reason() == Gap.Reason.DAMAGED) {
            return new Problem(Problem.Kind.DAMAGED, "event " + id + " lies in a damaged part of the archive");
        }
        Position earliest = source.archive().earliest();
        return new Problem(
                        Problem.Kind.EXPIRED,
                        "event " + id + " is gone: " + gap.reason().text())
                .with("earliest", Positions.text(earliest));
    }
}
