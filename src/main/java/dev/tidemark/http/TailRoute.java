package dev.tidemark.http;

import dev.tidemark.event.Limits;
import dev.tidemark.event.StreamName;
import dev.tidemark.read.Reads;
import dev.tidemark.read.Seam;
import dev.tidemark.read.TailAnswer;
import dev.tidemark.read.View;
import java.util.List;

/** {@code GET /v1/streams/{stream}/tail}: the last N. */
final class TailRoute {
    private static final List<String> PARAMETERS = List.of("n", "view", "control");
    /** More than what stands around the events. */
    private static final int FRAME_BYTES = 1_536;

    private final Reads reads;
    private final Limits limits;
    /** Where answers are put together, one after the other: an array for each would have to be zeroed first. */
    private final JsonOut scratch = new JsonOut(FRAME_BYTES);

    TailRoute(Reads reads, Limits limits) {
        this.reads = reads;
        this.limits = limits;
    }

    void handle(Exchange exchange, StreamName name) {
        Parameters parameters = Parameters.of(exchange.target().query(), PARAMETERS);
        int n = (int) parameters.number("n", Limits.TAIL_DEFAULT, 0, Limits.TAIL_MAX);
        View view = parameters.view();
        boolean control = parameters.flag("control", true);
        boolean lines = Accept.of(exchange.header("accept")) == Accept.NDJSON;
        exchange.on(reads.tail(name, n, view, limits.pageBytesMax()), tail -> {
            if (lines) {
                lines(exchange, tail, control);
            } else {
                exchange.on(reads.seam(name), seam -> json(exchange, tail, seam));
            }
        });
    }

    private void json(Exchange exchange, TailAnswer tail, Seam seam) {
        boolean small = EventWriter.arrayBytes(tail.events()) <= PacedAnswer.PIECE_BYTES;
        JsonOut json = small ? scratch : new JsonOut(FRAME_BYTES);
        json.clear();
        json.ascii("{\"stream\":").string(tail.stream().name().value()).ascii(",\"events\":[");
        if (small) {
            EventWriter.array(tail.events(), json);
            exchange.jsonCopied(200, end(tail, seam, json));
        } else {
            JsonOut end = end(tail, seam, new JsonOut(FRAME_BYTES));
            new PacedAnswer(exchange, Exchange.JSON, json, tail.events(), false, end).start();
        }
    }

    private static JsonOut end(TailAnswer tail, Seam seam, JsonOut json) {
        json.ascii("],\"complete\":").bool(tail.complete());
        json.ascii(",\"cursor\":\"").ascii(tail.cursor().toString());
        return SeamJson.write(seam, json.ascii("\",\"seam\":")).ascii("}");
    }

    private static void lines(Exchange exchange, TailAnswer tail, boolean control) {
        JsonOut end = new JsonOut(control ? 128 : 0);
        if (control) {
            ReadAnswer.endLine(tail.cursor(), tail.complete(), end);
        }
        new PacedAnswer(exchange, Accept.NDJSON.mediaType(), new JsonOut(0), tail.events(), true, end).start();
    }
}
