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
 * Finds the stored requests of a stripe when the first one of a producer comes since it was opened: those that the archive knows of, and
 * those in the live log above that. Streams without producers never pay for it. On the keeper's event loop.
 */
final class ProducerRestore {
    private static final int PAGE = 250;

    private final StripeId stripe;
    private final StripeAppender appender;
    private final List<StoredRequest> found = new ArrayList<>();

    ProducerRestore(StripeId stripe, StripeAppender appender) {
        this.stripe = stripe;
        this.appender = appender;
    }

    /** All of them, in no order, some perhaps twice. */
    Future<List<StoredRequest>> run(LiveStream stream, ArchivedState archived) {
        return archived.requests(stream, stripe.index()).compose(known -> {
            found.addAll(known.requests());
            return read(known.through()).map(found);
        });
    }

    private Future<Void> read(Position after) {
        return appender.range(stripe, after, Position.MAX, PAGE).compose(page -> {
            for (Event event : page.events()) {
                StoredRequest request = StoredRequest.of(event);
                if (request != null) {
                    found.add(request);
                }
            }
            return page.full() ? read(page.last()) : Future.succeededFuture();
        });
    }
}
