package dev.tidemark.http;

import dev.tidemark.event.Event;
import dev.tidemark.event.EventId;
import dev.tidemark.event.Limits;
import dev.tidemark.event.StreamName;
import dev.tidemark.read.ReadRequest;
import dev.tidemark.read.Reads;
import io.vertx.core.buffer.Buffer;
import java.util.List;

/** {@code GET /v1/streams/{stream}/events}, a range, and {@code …/events/{id}}, one event's exact bytes. */
final class ReadRoute {
    private static final List<String> PARAMETERS =
            List.of("after", "before", "from", "to", "limit", "order", "view", "on_gap", "control");

    private final Reads reads;
    private final Limits limits;

    ReadRoute(Reads reads, Limits limits) {
        this.reads = reads;
        this.limits = limits;
    }

    void range(Exchange exchange, StreamName name, Accept form) {
        boolean lines = form == Accept.NDJSON;
        Parameters parameters = Parameters.of(exchange.target().query(), PARAMETERS);
        boolean control = parameters.flag("control", true);
        ReadRequest request = request(parameters, lines);
        new ReadAnswer(exchange, reads, name, request, lines, control, limits.pageBytesMax()).start();
    }

    private static ReadRequest request(Parameters parameters, boolean lines) {
        return new ReadRequest(
                parameters.text("after"),
                parameters.text("before"),
                parameters.timeMs("from"),
                parameters.timeMs("to"),
                lines
                        ? parameters.number("limit", Long.MAX_VALUE, 1, Long.MAX_VALUE)
                        : parameters.number("limit", Limits.READ_DEFAULT, 1, Limits.READ_JSON_MAX),
                parameters.choice("order", "asc", "asc", "desc").equals("desc"),
                parameters.view(),
                parameters.choice("on_gap", "fail", "continue").equals("continue"));
    }

    void event(Exchange exchange, StreamName name, EventId id) {
        var unused = Parameters.of(exchange.target().query(), List.of());
        exchange.on(reads.event(name, id), event -> answer(exchange, id, event));
    }

    private static void answer(Exchange exchange, EventId id, Event event) {
        if (exchange.answered()) {
            return;
        }
        var headers = exchange.response().headers();
        headers.set("event-id", id.toString());
        headers.set("event-at", Long.toString(id.ms()));
        if (event.hasTime()) {
            headers.set("event-time", Long.toString(event.time()));
        }
        // What a writer stored is never a page of ours: a browser that opens it runs nothing of it.
        headers.set("content-security-policy", "default-src 'none'; sandbox");
        exchange.answer(200, event.type(), Buffer.buffer(event.payload()));
    }
}
