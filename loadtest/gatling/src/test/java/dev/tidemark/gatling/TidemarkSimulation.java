package dev.tidemark.gatling;

import static io.gatling.javaapi.core.CoreDsl.constantConcurrentUsers;
import static io.gatling.javaapi.core.CoreDsl.constantUsersPerSec;
import static io.gatling.javaapi.core.CoreDsl.global;
import static io.gatling.javaapi.core.CoreDsl.scenario;
import static io.gatling.javaapi.http.HttpDsl.http;

import io.gatling.javaapi.core.Assertion;
import io.gatling.javaapi.core.PopulationBuilder;
import io.gatling.javaapi.core.ScenarioBuilder;
import io.gatling.javaapi.core.Simulation;
import io.gatling.javaapi.http.HttpProtocolBuilder;
import io.gatling.javaapi.http.HttpRequestActionBuilder;
import java.time.Duration;
import java.util.List;

/** What the simulations share: the server, which is there when the constructor is through and gone at the end, and how load comes. */
abstract class TidemarkSimulation extends Simulation {
    static final String NDJSON = "application/x-ndjson";

    final String stream = System.getProperty("stream", "gatling");
    final String events = "/v1/streams/" + stream + "/events";
    final Server server = Server.open();

    TidemarkSimulation() {
        server.createStream(stream);
    }

    /** Virtual users are one request each and share connections, as the clients of a service do. */
    final HttpProtocolBuilder protocol() {
        return http.baseUrl(server.url())
                .wsBaseUrl(server.url().replaceFirst("http", "ws"))
                .disableCaching()
                .shareConnections();
    }

    /**
     * A request under the load that the options ask for, after some seconds of the same as a warm-up, which isn't in the report.
     */
    static PopulationBuilder load(
            String name, int rateOtherwise, int connectionsOtherwise, HttpRequestActionBuilder request) {
        return under(
                        scenario(name + " (warm-up)").exec(request.silent()),
                        rateOtherwise,
                        connectionsOtherwise,
                        Options.warmUp())
                .andThen(under(scenario(name).exec(request), rateOtherwise, connectionsOtherwise, Options.duration()));
    }

    private static PopulationBuilder under(
            ScenarioBuilder scenario, int rateOtherwise, int connectionsOtherwise, Duration duration) {
        return switch (Options.model()) {
            case OPEN ->
                scenario.injectOpen(constantUsersPerSec(Options.number("rate", rateOtherwise, 1, 100_000))
                        .during(duration));
            case CLOSED ->
                scenario.injectClosed(
                        constantConcurrentUsers(Options.number("connections", connectionsOtherwise, 1, 10_000))
                                .during(duration));
        };
    }

    /** That there were requests, and none failed. */
    static List<Assertion> nothingFailed() {
        return List.of(
                global().successfulRequests().count().gt(0L),
                global().failedRequests().count().is(0L));
    }

    @Override
    public void after() {
        server.close();
    }
}
