package dev.tidemark.http;

import dev.tidemark.event.CheckProgress;
import dev.tidemark.event.Clock;
import dev.tidemark.event.Finding;
import dev.tidemark.event.StreamName;
import dev.tidemark.read.Reads;
import dev.tidemark.read.Verification;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * {@code POST /v1/streams/{stream}/verify}: checks archive and live log while everything goes on, and answers in lines as it goes:
 *
 * <pre>
 * {"type":"progress","files":3,"bytes":…,"bytes_total":…,"events":…,"compared":…}      every half second
 * {"type":"finding","kind":"damaged","damage":true,"file":"20251130F.cq4","excerpt":500,"event":"EVT…","detail":"…"}
 * {"type":"end","good":false,"findings":1,"files":3,"bytes":…,"bytes_total":…,"events":…,"compared":…,"first":"EVT…","last":"EVT…"}
 * </pre>
 *
 * An answer without its end was cut, and says nothing. A client that leaves ends the check.
 */
final class VerifyRoute {
    private static final int BODY_BYTES_MAX = 64 << 10;
    private static final long PROGRESS_NS = 500_000_000;

    private final Reads reads;
    private final Clock clock;

    VerifyRoute(Reads reads, Clock clock) {
        this.reads = reads;
        this.clock = clock;
    }

    void handle(Exchange exchange, StreamName name) {
        var unused = Parameters.of(exchange.target().query(), List.of());
        exchange.body().collect("body", BODY_BYTES_MAX, body -> {
            exchange.body().release();
            new Answer(exchange).start(name);
        });
    }

    private final class Answer {
        private final Exchange exchange;
        private @Nullable Verification verification;
        private boolean left;
        private long damages;
        private long toldNs;

        Answer(Exchange exchange) {
            this.exchange = exchange;
        }

        void start(StreamName name) {
            exchange.onAbandoned(this::leave);
            exchange.on(reads.verify(name), started -> {
                verification = started;
                if (left) {
                    started.stop();
                } else {
                    toldNs = clock.monotonicNs();
                    pull();
                }
            });
        }

        private void leave() {
            left = true;
            Verification under = verification;
            if (under != null) {
                under.stop();
            }
        }

        private void pull() {
            Verification from = verification;
            if (left || from == null || exchange.answered()) {
                return;
            }
            exchange.onResult(from.next(), step -> {
                if (step.succeeded()) {
                    exchange.guard(() -> take(step.result()));
                } else {
                    exchange.refuse(step.cause());
                }
            });
        }

        private void take(Verification.Step step) {
            JsonOut out = new JsonOut(512);
            for (Finding finding : step.findings()) {
                damages += finding.isDamage() ? 1 : 0;
                finding(finding, out);
            }
            if (step.end()) {
                end(step, out);
                return;
            }
            if (clock.monotonicNs() - toldNs >= PROGRESS_NS) {
                toldNs = clock.monotonicNs();
                figures(step, out.ascii("{\"type\":\"progress\",")).ascii("}\n");
            }
            if (out.length() == 0) {
                exchange.later(this::pull);
            } else if (begin()) {
                exchange.response().write(out.buffer());
                goOnWhenTaken();
            }
        }

        private boolean begin() {
            return exchange.response().headWritten() || exchange.beginStream(Accept.NDJSON.mediaType());
        }

        private void goOnWhenTaken() {
            if (exchange.response().writeQueueFull()) {
                exchange.response().drainHandler(v -> {
                    exchange.response().drainHandler(null);
                    exchange.guard(this::pull);
                });
            } else {
                exchange.later(this::pull);
            }
        }

        private void end(Verification.Step step, JsonOut out) {
            if (left || exchange.answered()) {
                return;
            }
            out.ascii("{\"type\":\"end\",\"good\":").bool(damages == 0);
            out.ascii(",\"findings\":").number(damages).ascii(",");
            figures(step, out).ascii(",\"first\":").id(step.archive().first());
            out.ascii(",\"last\":").id(step.archive().last()).ascii("}\n");
            if (exchange.response().headWritten()) {
                exchange.response().end(out.buffer());
            } else {
                exchange.answer(200, Accept.NDJSON.mediaType(), out.buffer());
            }
        }
    }

    private static void finding(Finding finding, JsonOut out) {
        out.ascii("{\"type\":\"finding\",\"kind\":\"").ascii(finding.kind().text());
        out.ascii("\",\"damage\":").bool(finding.isDamage());
        out.ascii(",\"file\":").value(finding.file().isEmpty() ? null : finding.file());
        out.ascii(",\"excerpt\":").value(finding.excerpt() == Finding.NONE ? null : (Long) finding.excerpt());
        out.ascii(",\"event\":").value(finding.eventId());
        out.ascii(",\"detail\":").string(finding.what()).ascii("}\n");
    }

    private static JsonOut figures(Verification.Step step, JsonOut out) {
        CheckProgress archive = step.archive();
        out.ascii("\"files\":").number(archive.files());
        out.ascii(",\"bytes\":").number(archive.bytes());
        out.ascii(",\"bytes_total\":").number(Math.max(archive.bytes(), archive.bytesTotal()));
        out.ascii(",\"events\":").number(archive.events());
        return out.ascii(",\"compared\":").number(step.compared());
    }
}
