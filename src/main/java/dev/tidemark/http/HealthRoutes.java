package dev.tidemark.http;

import dev.tidemark.http.Health.Check;
import dev.tidemark.http.Health.Status;
import io.vertx.core.buffer.Buffer;
import java.util.List;

/** {@code /health/live}, {@code /health/ready} and the home page. */
final class HealthRoutes {
    private static final String PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8";

    private final Health health;

    HealthRoutes(Health health) {
        this.health = health;
    }

    void text(Exchange exchange, String text) {
        exchange.answer(200, "text/plain; charset=utf-8", Buffer.buffer(text));
    }

    void metrics(Exchange exchange) {
        exchange.answer(200, PROMETHEUS, Buffer.buffer(health.metrics()));
    }

    /** The process answers: that is all it says. */
    void live(Exchange exchange) {
        exchange.json(200, new JsonOut(32).ascii("{\"status\":\"ok\"}"));
    }

    /** 200 unless a check fails; then 503, with the same body. */
    void ready(Exchange exchange) {
        List<Check> checks = health.checks();
        Status worst = Status.OK;
        for (Check check : checks) {
            worst = check.status().compareTo(worst) > 0 ? check.status() : worst;
        }
        JsonOut json =
                new JsonOut(512).ascii("{\"status\":\"").ascii(worst.text()).ascii("\",\"checks\":{");
        String separator = "";
        for (Check check : checks) {
            json.ascii(separator).string(check.name());
            json.ascii(":{\"status\":\"").ascii(check.status().text());
            json.ascii("\",\"detail\":").string(check.detail());
            json.ascii(",\"since\":").number(check.sinceMs()).ascii("}");
            separator = ",";
        }
        exchange.json(worst == Status.FAILING ? 503 : 200, json.ascii("}}"));
    }
}
