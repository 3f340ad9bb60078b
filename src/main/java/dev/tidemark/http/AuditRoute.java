package dev.tidemark.http;

import dev.tidemark.event.StreamName;
import dev.tidemark.read.Reads;
import dev.tidemark.read.StreamAudit;
import java.util.List;

/**
 * {@code GET /v1/streams/{stream}/audit}: whether all that was ever appended is accounted for. Of each stripe {@code appended =
 * archived + live + lost + void + pending}, or it has {@code mismatches}.
 *
 * <pre>
 * {"stream":"quakes","generation":"…","checked":1764440000123,"mismatches":0,"archive_missing":0,"stripes":[
 *   {"stripe":0,"appended":120,"archived":100,"live":19,"lost":0,"void":1,"pending":0,"mismatches":0}]}
 * </pre>
 */
final class AuditRoute {
    private final Reads reads;

    AuditRoute(Reads reads) {
        this.reads = reads;
    }

    void handle(Exchange exchange, StreamName name) {
        var unused = Parameters.of(exchange.target().query(), List.of());
        exchange.on(reads.audit(name), audit -> exchange.json(200, json(name, audit)));
    }

    private static JsonOut json(StreamName name, StreamAudit audit) {
        JsonOut json = new JsonOut(256 + 160 * audit.stripes().size());
        json.ascii("{\"stream\":").string(name.value());
        json.ascii(",\"generation\":\"").ascii(audit.generation().toString());
        json.ascii("\",\"checked\":").number(audit.checkedMs());
        json.ascii(",\"mismatches\":").number(audit.mismatches());
        json.ascii(",\"archive_missing\":").number(audit.archiveMissing());
        json.ascii(",\"stripes\":[");
        for (int i = 0; i < audit.stripes().size(); i++) {
            StreamAudit.Stripe stripe = audit.stripes().get(i);
            json.ascii(i == 0 ? "{" : ",{").ascii("\"stripe\":").number(i);
            json.ascii(",\"appended\":").number(stripe.appended());
            json.ascii(",\"archived\":").number(stripe.archived());
            json.ascii(",\"live\":").number(stripe.live());
            json.ascii(",\"lost\":").number(stripe.lost());
            json.ascii(",\"void\":").number(stripe.voided());
            json.ascii(",\"pending\":").number(stripe.pending());
            json.ascii(",\"mismatches\":").number(stripe.mismatches()).ascii("}");
        }
        return json.ascii("]}");
    }
}
