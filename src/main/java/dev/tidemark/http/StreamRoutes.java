package dev.tidemark.http;

import dev.tidemark.event.ContentType;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.Problem.Kind;
import dev.tidemark.event.StreamName;
import dev.tidemark.ingest.Ingest;
import dev.tidemark.ingest.StreamInfo;
import dev.tidemark.read.Reads;
import dev.tidemark.read.Seam;
import dev.tidemark.retention.FoldRequests;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Streams themselves: list, show, create, delete, seam, fold. */
final class StreamRoutes {
    private static final int LIST_DEFAULT = 100;
    private static final int LIST_MAX = 1_000;
    private static final int SETTINGS_BYTES_MAX = 64 << 10;
    private static final int FOLD_BODY_BYTES_MAX = 64 << 10;

    private final Ingest ingest;
    private final Reads reads;
    private final FoldRequests folds;

    StreamRoutes(Ingest ingest, Reads reads, FoldRequests folds) {
        this.ingest = ingest;
        this.reads = reads;
        this.folds = folds;
    }

    // ---- list

    void list(Exchange exchange) {
        Parameters parameters = Parameters.of(exchange.target().query(), List.of("after", "limit"));
        int limit = (int) parameters.number("limit", LIST_DEFAULT, 1, LIST_MAX);
        List<StreamInfo> found = ingest.streams(parameters.text("after"), limit + 1);
        List<StreamInfo> shown = found.subList(0, Math.min(limit, found.size()));
        List<Future<Seam>> seams = new ArrayList<>();
        for (StreamInfo stream : shown) {
            seams.add(reads.seam(stream.id().name()));
        }
        exchange.onResult(
                Future.join(seams), all -> exchange.guard(() -> exchange.json(200, list(found, shown, seams))));
    }

    private static JsonOut list(List<StreamInfo> found, List<StreamInfo> shown, List<Future<Seam>> seams) {
        JsonOut json = new JsonOut(256 + 400 * shown.size());
        String separator = "{\"streams\":[";
        for (int i = 0; i < shown.size(); i++) {
            summary(shown.get(i), seams.get(i), json.ascii(separator));
            separator = ",";
        }
        json.ascii(shown.isEmpty() ? "{\"streams\":[]" : "]");
        boolean more = found.size() > shown.size();
        json.ascii(",\"next\":")
                .value(more ? shown.get(shown.size() - 1).id().name().value() : null);
        return json.ascii("}");
    }

    /** One stream in the list; one whose seam can't be told is listed all the same, and says so. */
    private static void summary(StreamInfo stream, Future<Seam> asked, JsonOut json) {
        identity(stream, json.ascii("{"));
        if (asked.succeeded()) {
            Seam seam = asked.result();
            json.ascii(",\"tail\":").id(seam.tail());
            json.ascii(",\"watermark\":").id(seam.watermark());
            json.ascii(",\"live_events\":").number(seam.liveEvents());
            json.ascii(",\"archived_events\":").number(seam.archivedEvents());
            json.ascii(",\"fold_lag_ms\":").number(seam.foldLagMs());
        } else {
            json.ascii(",\"unavailable\":").string(ProblemJson.of(asked.cause()).detail());
        }
        json.ascii("}");
    }

    private static void identity(StreamInfo stream, JsonOut json) {
        json.ascii("\"stream\":").string(stream.id().name().value());
        json.ascii(",\"generation\":\"").ascii(stream.id().generation().toString());
        json.ascii("\",\"created\":").number(stream.createdMs());
    }

    // ---- one stream

    void show(Exchange exchange, StreamName name) {
        noParameters(exchange);
        answer(exchange, 200, ingest.stream(name));
    }

    private void answer(Exchange exchange, int status, StreamInfo stream) {
        exchange.on(reads.seam(stream.id().name()), seam -> {
            JsonOut json = new JsonOut(1_536);
            identity(stream, json.ascii("{"));
            json.ascii(",\"settings\":").value(stream.settings().written());
            SeamJson.write(seam, json.ascii(",\"seam\":"));
            exchange.json(status, json.ascii("}"));
        });
    }

    void put(Exchange exchange, StreamName name) {
        noParameters(exchange);
        String type = exchange.onlyHeader("Content-Type");
        if (type != null && !ContentType.isJson(type)) {
            throw new Problem(
                    Kind.UNSUPPORTED_TYPE, "settings are sent as application/json, not '" + Problem.quote(type) + "'");
        }
        if (exchange.request().headers().contains("Content-Encoding")) {
            throw new Problem(Kind.UNSUPPORTED_TYPE, "settings are sent without Content-Encoding");
        }
        exchange.body().collect("settings", SETTINGS_BYTES_MAX, body -> {
            Map<String, @Nullable Object> settings = settings(exchange, body);
            exchange.on(ingest.put(name, settings), put -> answer(exchange, put.created() ? 201 : 200, put.stream()));
        });
    }

    private static Map<String, @Nullable Object> settings(Exchange exchange, Buffer body) {
        try {
            return SettingsJson.parse(body);
        } finally {
            exchange.body().release();
        }
    }

    void delete(Exchange exchange, StreamName name) {
        noParameters(exchange);
        exchange.on(ingest.delete(name), done -> exchange.empty(204));
    }

    void seam(Exchange exchange, StreamName name) {
        noParameters(exchange);
        exchange.on(reads.seam(name), seam -> exchange.json(200, SeamJson.write(seam, new JsonOut(768))));
    }

    void fold(Exchange exchange, StreamName name) {
        noParameters(exchange);
        exchange.body().collect("body", FOLD_BODY_BYTES_MAX, body -> {
            exchange.body().release();
            exchange.on(folds.foldNow(name), watermark -> exchange.json(200, folded(name, watermark)));
        });
    }

    private static JsonOut folded(StreamName name, Position watermark) {
        JsonOut json = new JsonOut(512).ascii("{\"stream\":").string(name.value());
        return json.ascii(",\"watermark\":").id(watermark).ascii("}");
    }

    private static void noParameters(Exchange exchange) {
        var unused = Parameters.of(exchange.target().query(), List.of());
    }
}
