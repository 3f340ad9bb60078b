package dev.tidemark.gatling;

import static io.gatling.javaapi.core.CoreDsl.ByteArrayBody;
import static io.gatling.javaapi.core.CoreDsl.constantUsersPerSec;
import static io.gatling.javaapi.core.CoreDsl.scenario;
import static io.gatling.javaapi.core.CoreDsl.substring;
import static io.gatling.javaapi.http.HttpDsl.http;
import static io.gatling.javaapi.http.HttpDsl.status;

import io.gatling.javaapi.core.PopulationBuilder;
import java.util.ArrayList;
import java.util.List;

/** Queries for the last {@code -Dn} events, with {@code -Dbeside} events a second appended beside them. */
public final class TailSimulation extends TidemarkSimulation {
    /** Events in an append beside the queries. */
    private static final int BESIDE_BATCH = 20;

    public TailSimulation() {
        int n = Options.number("n", 10, 1, 10_000);
        int beside = Options.number("beside", 2_000, 0, 1_000_000);
        server.append(stream, n);
        List<PopulationBuilder> load = new ArrayList<>();
        load.add(load(
                "tail n=" + n,
                500,
                16,
                http("tail n=" + n)
                        .get("/v1/streams/" + stream + "/tail?n=" + n)
                        // Each event has one, and the answer; the payloads have none.
                        .check(
                                status().is(200),
                                substring("\"cursor\":\"1").count().is(n + 1))));
        if (beside > 0) {
            load.add(appends(beside));
        }
        setUp(load).protocols(protocol()).assertions(nothingFailed());
    }

    private PopulationBuilder appends(int beside) {
        return scenario("append beside")
                .exec(http("append " + BESIDE_BATCH + " events")
                        .post(events)
                        .header("Content-Type", NDJSON)
                        .body(ByteArrayBody(Payloads.lines(BESIDE_BATCH)))
                        .check(status().is(201)))
                .injectOpen(constantUsersPerSec((double) beside / BESIDE_BATCH)
                        .during(Options.warmUp().plus(Options.duration())));
    }
}
