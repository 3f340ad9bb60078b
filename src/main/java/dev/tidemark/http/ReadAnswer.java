package dev.tidemark.http;

import dev.tidemark.event.Cursor;
import dev.tidemark.event.Gap;
import dev.tidemark.event.StreamName;
import dev.tidemark.read.ReadPage;
import dev.tidemark.read.ReadRequest;
import dev.tidemark.read.Reads;
import dev.tidemark.read.Reads.Scan;
import dev.tidemark.read.Seam;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One range read under way, as a JSON page or as NDJSON: page after page is pulled, written and forgotten, as fast as the client takes
 * it, so that memory stays flat. Nothing is pulled any more once the client has left.
 */
final class ReadAnswer {
    /** A page pulled has about so many bytes. */
    private static final int PULL_BYTES = 256 << 10;

    /** The first page of an answer that is written page by page is small, the next ones are larger: the first byte comes soon. */
    private static final int PULL_BYTES_FIRST = 16 << 10;

    private static final int PULL_GROWTH = 4;

    private static final int PULL_EVENTS = 8_192;

    private final Exchange exchange;
    private final Reads reads;
    private final StreamName name;
    private final ReadRequest request;
    private final boolean lines;
    private final boolean control;
    private final long bytesMax;

    private final List<Gap> gaps = new ArrayList<>();
    private JsonOut out = new JsonOut(4 << 10);
    private @Nullable Scan scan;
    private @Nullable Cursor cursor;
    private boolean complete = true;
    private boolean stopped;
    private long bytes;
    private int pullBytes;
    private boolean anyEvent;

    ReadAnswer(
            Exchange exchange,
            Reads reads,
            StreamName name,
            ReadRequest request,
            boolean lines,
            boolean control,
            long bytesMax) {
        this.exchange = exchange;
        this.reads = reads;
        this.name = name;
        this.request = request;
        this.lines = lines;
        this.control = control;
        this.bytesMax = lines ? Long.MAX_VALUE : bytesMax;
        pullBytes = lines ? PULL_BYTES_FIRST : PULL_BYTES;
    }

    void start() {
        exchange.onAbandoned(() -> stopped = true);
        exchange.on(reads.scan(name, request), opened -> {
            scan = opened;
            if (exchange.isHead()) {
                head();
            } else {
                pull();
            }
        });
    }

    private void head() {
        if (!exchange.answered()) {
            exchange.head(200, contentType());
            exchange.endHead();
        }
    }

    private CharSequence contentType() {
        return lines ? Accept.NDJSON.mediaType() : Exchange.JSON;
    }

    private void pull() {
        Scan from = scan;
        if (stopped || exchange.answered() || from == null) {
            return;
        }
        int bytesOfPage = pullBytes;
        pullBytes = Math.min(PULL_BYTES, bytesOfPage * PULL_GROWTH);
        exchange.onResult(from.next(PULL_EVENTS, Math.min(bytesOfPage, bytesMax - bytes)), page -> {
            if (page.succeeded()) {
                exchange.guard(() -> take(page.result()));
            } else {
                failed(page.cause());
            }
        });
    }

    private void take(ReadPage page) {
        if (stopped) {
            return;
        }
        bytes += EventWriter.arrayBytes(page.events());
        cursor = page.cursor();
        complete &= page.complete();
        if (lines) {
            writeLines(page);
        } else {
            writeEvents(page);
        }
        if (page.end() || !page.complete() || bytes >= bytesMax) {
            finish(page.end() && page.bounded() && page.complete());
        } else if (lines || out.length() >= PULL_BYTES) {
            flush();
        } else {
            pullLater();
        }
    }

    /** Lets other work of this event loop in between two pages. */
    private void pullLater() {
        exchange.later(this::pull);
    }

    private void flush() {
        if (!exchange.response().headWritten() && !exchange.beginStream(contentType())) {
            return;
        }
        if (out.length() > 0) {
            exchange.response().write(out.buffer());
            out = new JsonOut(pullBytes + (16 << 10));
        }
        if (exchange.response().writeQueueFull()) {
            exchange.response().drainHandler(v -> {
                exchange.response().drainHandler(null);
                exchange.guard(this::pull);
            });
        } else {
            pullLater();
        }
    }

    // ---- NDJSON

    private void writeLines(ReadPage page) {
        EventRun run = new EventRun(page.events(), request.descending());
        int gap = 0;
        while (!run.atEnd()) {
            while (gap < page.gaps().size() && isBefore(page.gaps().get(gap), run)) {
                gapLine(page.gaps().get(gap++));
            }
            EventWriter.line(run.chunk(), run.index(), out);
            run.advance();
        }
        while (gap < page.gaps().size()) {
            gapLine(page.gaps().get(gap++));
        }
    }

    /** Whether the gap comes before the run's event in reading order. */
    private boolean isBefore(Gap gap, EventRun run) {
        return request.descending() != run.position().isAfter(gap.from());
    }

    private void gapLine(Gap gap) {
        if (control) {
            SeamJson.gapFields(gap, null, out.ascii("{\"type\":\"gap\",")).ascii("}\n");
        }
    }

    /** The line that says that the answer is whole. */
    static void endLine(Cursor cursor, boolean complete, JsonOut out) {
        out.ascii("{\"type\":\"end\",\"cursor\":\"").ascii(cursor.toString());
        out.ascii("\",\"complete\":").bool(complete).ascii("}\n");
    }

    // ---- JSON

    private void writeEvents(ReadPage page) {
        EventRun run = new EventRun(page.events(), request.descending());
        if (!anyEvent && out.length() == 0) {
            out.ascii("{\"events\":[");
        }
        while (!run.atEnd()) {
            if (anyEvent) {
                out.ascii(",");
            }
            anyEvent = true;
            EventWriter.object(run.chunk(), run.index(), out);
            run.advance();
        }
        gaps.addAll(page.gaps());
    }

    private void jsonEnd(boolean bounded, Seam seam) {
        out.ascii("],\"next\":");
        if (bounded) {
            out.ascii("null");
        } else {
            out.ascii("\"").ascii(String.valueOf(cursor)).ascii("\"");
        }
        out.ascii(",\"complete\":").bool(complete);
        String separator = ",\"gaps\":[{";
        for (Gap gap : gaps) {
            SeamJson.gapFields(gap, null, out.ascii(separator)).ascii("}");
            separator = ",{";
        }
        out.ascii(gaps.isEmpty() ? ",\"gaps\":[]" : "]");
        SeamJson.write(seam, out.ascii(",\"seam\":")).ascii("}");
    }

    // ---- the end

    private void finish(boolean bounded) {
        if (lines) {
            Cursor end = cursor;
            if (control && end != null) {
                endLine(end, complete, out);
            }
            end();
        } else {
            exchange.on(reads.seam(name), seam -> {
                jsonEnd(bounded, seam);
                end();
            });
        }
    }

    private void end() {
        if (exchange.answered()) {
            return;
        }
        if (exchange.response().headWritten()) {
            exchange.response().end(out.buffer());
        } else {
            exchange.answer(200, contentType(), out.buffer());
        }
    }

    /** Before anything was written it is a problem. Later a JSON page ends early and says so; an NDJSON answer has no end line. */
    private void failed(Throwable failure) {
        if (!exchange.response().headWritten() || exchange.answered()) {
            exchange.refuse(failure);
            return;
        }
        ProblemJson problem = ProblemJson.of(failure);
        if (!lines) {
            complete = false;
            exchange.guard(() -> finish(false));
            return;
        }
        if (control) {
            exchange.response().write(problem.message(cursor).ascii("\n").buffer());
        }
        exchange.cut();
    }
}
