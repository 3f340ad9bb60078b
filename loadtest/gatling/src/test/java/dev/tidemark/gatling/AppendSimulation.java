package dev.tidemark.gatling;

import static io.gatling.javaapi.core.CoreDsl.ByteArrayBody;
import static io.gatling.javaapi.core.CoreDsl.StringBody;
import static io.gatling.javaapi.http.HttpDsl.http;
import static io.gatling.javaapi.http.HttpDsl.status;

import io.gatling.javaapi.http.HttpRequestActionBuilder;

/** Appends: one event of JSON a request, or {@code -Dbatch} events of NDJSON. */
public final class AppendSimulation extends TidemarkSimulation {
    public AppendSimulation() {
        int batch = Options.number("batch", 1, 1, 10_000);
        String name = batch == 1 ? "append an event" : "append " + batch + " events";
        setUp(load(name, 500, 64, append(name, batch))).protocols(protocol()).assertions(nothingFailed());
    }

    private HttpRequestActionBuilder append(String name, int batch) {
        HttpRequestActionBuilder request = batch == 1
                ? http(name)
                        .post(events)
                        .header("Content-Type", "application/json")
                        .body(StringBody(session -> Payloads.event()))
                : http(name).post(events).header("Content-Type", NDJSON).body(ByteArrayBody(Payloads.lines(batch)));
        return request.check(status().is(201));
    }
}
