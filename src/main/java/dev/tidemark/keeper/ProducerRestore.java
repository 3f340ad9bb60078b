package dev.tidemark.keeper;

import dev.tidemark.event.Event;
import dev.tidemark.event.Position;
import dev.tidemark.event.StoredRequest;
import dev.tidemark.event.StripeId;
import dev.tidemark.livelog.StripeAppender;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;

/**
 * Finds the stored requests of a stripe when the first one of a producer comes since it was opened: those in the live log, then those
 * that the archive knows of. In this order: what is folded and trimmed before it was read here, the archive knows by then. Streams
 * without producers never pay for it. On the keeper's event loop.
 */
final class ProducerRestore {
    private static final int PAGE = 100;

    private final StripeId stripe;
    private final StripeAppender appender;
    private final List<StoredRequest> live = new ArrayList<>();

    ProducerRestore(StripeId stripe, StripeAppender appender) {
        this.stripe = stripe;
        this.appender = appender;
    }

    /**
     * All of them, some perhaps twice.
     *
     * @param folded what is at or below this is in the archive
     */
    Future<List<StoredRequest>> run(LiveStream stream, ArchivedState archived, Position folded) {
        return read(folded)
                .compose(nothing -> archived.requests(stream, stripe.index()))
                .map(known -> {
                    List<StoredRequest> all = new ArrayList<>(known);
                    all.addAll(live);
                    return all;
                });
    }

    private Future<Void> read(Position after) {
        return appender.range(stripe, after, Position.MAX, PAGE).compose(page -> {
            for (Event event : page.events()) {
                StoredRequest request = StoredRequest.of(event);
                if (request != null) {
                    live.add(request);
                }
            }
            return page.full() ? read(page.last()) : Future.succeededFuture();
        });
    }
}
