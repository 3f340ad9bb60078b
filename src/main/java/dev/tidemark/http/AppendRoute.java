package dev.tidemark.http;

import dev.tidemark.event.EventId;
import dev.tidemark.event.Limits;
import dev.tidemark.event.StreamName;
import dev.tidemark.ingest.AppendRequest;
import dev.tidemark.ingest.AppendResult;
import dev.tidemark.ingest.Ingest;
import dev.tidemark.ingest.ProducerHeaders;
import io.vertx.core.buffer.Buffer;
import java.util.List;

/** {@code POST /v1/streams/{stream}/events}. */
final class AppendRoute {
    private static final List<String> PARAMETERS = List.of("ack", "ids", "late");

    private final Ingest ingest;
    private final Limits limits;

    AppendRoute(Ingest ingest, Limits limits) {
        this.ingest = ingest;
        this.limits = limits;
    }

    void handle(Exchange exchange, StreamName name) {
        Parameters parameters = Parameters.of(exchange.target().query(), PARAMETERS);
        boolean archived = parameters.choice("ack", "live", "live", "archived").equals("archived");
        boolean ids = parameters.flag("ids", false);
        boolean rescueLate = parameters.choice("late", "", "rescue").equals("rescue");
        ProducerHeaders producer = new ProducerHeaders(
                exchange.onlyHeader(ProducerHeaders.ID),
                exchange.onlyHeader(ProducerHeaders.EPOCH),
                exchange.onlyHeader(ProducerHeaders.SEQ),
                exchange.onlyHeader(ProducerHeaders.KEY));
        String contentType = exchange.onlyHeader("Content-Type");
        String eventTime = exchange.onlyHeader("Event-Time");
        List<String> encodings = exchange.request().headers().getAll("Content-Encoding");
        String contentEncoding = encodings.isEmpty() ? null : String.join(", ", encodings);
        exchange.body().collect("limits.body_bytes", limits.bodyBytesMax(), body -> {
            AppendRequest request = new AppendRequest(
                    name.value(),
                    contentType,
                    contentEncoding,
                    eventTime,
                    body,
                    rescueLate,
                    producer,
                    exchange.peer().identity(),
                    archived);
            append(exchange, request, ids);
        });
    }

    private void append(Exchange exchange, AppendRequest request, boolean ids) {
        exchange.onResult(ingest.append(request), result -> {
            exchange.body().release();
            exchange.deliver(result, stored -> exchange.answer(status(stored), Exchange.JSON, body(stored, ids)));
        });
    }

    private static int status(AppendResult result) {
        if (!result.complete()) {
            return 202;
        }
        return result.duplicate() ? 200 : 201;
    }

    private static Buffer body(AppendResult result, boolean withIds) {
        List<EventId> ids = result.ids();
        JsonOut json = new JsonOut(256 + (withIds ? ids.size() * (EventId.LENGTH + 3) : 0));
        json.ascii("{\"stream\":").string(result.stream().value());
        json.ascii(",\"count\":").number(result.count());
        json.ascii(",\"first\":\"").ascii(ids.get(0).toString());
        json.ascii("\",\"last\":\"").ascii(ids.get(ids.size() - 1).toString());
        json.ascii("\",\"cursor\":\"").ascii(result.cursor().toString());
        json.ascii("\",\"duplicate\":").bool(result.duplicate());
        json.ascii(",\"ack\":").string(result.ack());
        if (withIds && ids.size() == result.count()) {
            String separator = ",\"ids\":[\"";
            for (EventId id : ids) {
                json.ascii(separator).ascii(id.toString());
                separator = "\",\"";
            }
            json.ascii("\"]");
        }
        return json.ascii("}").buffer();
    }
}
