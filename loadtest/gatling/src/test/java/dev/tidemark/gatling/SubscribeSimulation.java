package dev.tidemark.gatling;

import static io.gatling.javaapi.core.CoreDsl.StringBody;
import static io.gatling.javaapi.core.CoreDsl.asLongAs;
import static io.gatling.javaapi.core.CoreDsl.atOnceUsers;
import static io.gatling.javaapi.core.CoreDsl.constantUsersPerSec;
import static io.gatling.javaapi.core.CoreDsl.details;
import static io.gatling.javaapi.core.CoreDsl.doIf;
import static io.gatling.javaapi.core.CoreDsl.dummy;
import static io.gatling.javaapi.core.CoreDsl.exec;
import static io.gatling.javaapi.core.CoreDsl.jsonPath;
import static io.gatling.javaapi.core.CoreDsl.nothingFor;
import static io.gatling.javaapi.core.CoreDsl.pause;
import static io.gatling.javaapi.core.CoreDsl.scenario;
import static io.gatling.javaapi.http.HttpDsl.http;
import static io.gatling.javaapi.http.HttpDsl.status;
import static io.gatling.javaapi.http.HttpDsl.ws;

import io.gatling.javaapi.core.Assertion;
import io.gatling.javaapi.core.ChainBuilder;
import io.gatling.javaapi.core.PopulationBuilder;
import io.gatling.javaapi.core.Session;
import io.gatling.javaapi.http.HttpRequestActionBuilder;
import io.gatling.javaapi.http.WsFrameCheck;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * WebSocket subscribers with appends of one event each beside them: every subscriber must get {@code hello}, {@code caught_up} and every
 * event, each once and in order.
 */
public final class SubscribeSimulation extends TidemarkSimulation {
    private static final String COMPLETE = "every event came";
    private static final String INBOX = "inbox";
    private static final String LATENCY = "latency";
    private static final Duration DRAIN = Duration.ofMillis(100);
    /** How long messages may wait to be looked at before some are lost. */
    private static final int BUFFERED_SECONDS = 10;

    private final int subscribers = Options.number("connections", 20, 1, 10_000);
    private final int rate = Options.number("rate", 200, 1, 100_000);
    /** Time for all of them to connect before the first append. */
    private final Duration connecting = Duration.ofSeconds(3 + subscribers / 200);

    private final Deliveries deliveries =
            new Deliveries(rate * Options.warmUp().plus(Options.duration()).toSeconds());

    public SubscribeSimulation() {
        List<Assertion> assertions = new ArrayList<>(nothingFailed());
        assertions.add(details(COMPLETE).successfulRequests().count().is((long) subscribers));
        setUp(subscriptions(), appends())
                .protocols(protocol().wsUnmatchedInboundMessageBufferSize(1_000 + BUFFERED_SECONDS * rate))
                .assertions(assertions);
    }

    @Override
    public void after() {
        super.after();
        System.out.println(deliveries.summary());
    }

    private PopulationBuilder subscriptions() {
        return scenario("subscribe")
                .exec(session -> session.set(INBOX, new Inbox(deliveries)))
                .exec(ws("connect")
                        .connect("/v1/streams/" + stream + "/subscribe?after=latest")
                        .await(10)
                        .on(first("hello"))
                        .await(10)
                        .on(first("caught_up")))
                .exitHereIfFailed()
                .exec(asLongAs(session -> !inbox(session).isDone()).on(pause(DRAIN), drain()))
                .exec(dummy(COMPLETE, 0).withSuccess(session -> inbox(session).isComplete()))
                .exec(ws("close").close())
                .injectOpen(atOnceUsers(subscribers));
    }

    private static WsFrameCheck first(String type) {
        return ws.checkTextMessage(type).check(jsonPath("$.type").is(type));
    }

    /** Looks at what has come, and puts one of the latencies into the report: it takes its time for each. */
    private static ChainBuilder drain() {
        return exec(ws.processUnmatchedMessages((messages, session) ->
                        session.set(LATENCY, inbox(session).take(messages))))
                .exec(doIf(session -> session.getInt(LATENCY) >= 0)
                        .then(exec(dummy("append to delivery (a sample)", session -> session.getInt(LATENCY)))));
    }

    private static Inbox inbox(Session session) {
        return Objects.requireNonNull(session.get(INBOX));
    }

    private PopulationBuilder appends() {
        HttpRequestActionBuilder append = http("append an event")
                .post(events)
                .header("Content-Type", "application/json")
                .body(StringBody(session -> Payloads.event()))
                .check(status().is(201));
        return scenario("append (warm-up)")
                .exec(append.silent())
                .exec(this::answered)
                .injectOpen(nothingFor(connecting), constantUsersPerSec(rate).during(Options.warmUp()))
                .andThen(scenario("append")
                        .exec(this::begun)
                        .exec(append)
                        .exec(this::answered)
                        .injectOpen(constantUsersPerSec(rate).during(Options.duration())));
    }

    private Session begun(Session session) {
        deliveries.count();
        return session;
    }

    private Session answered(Session session) {
        deliveries.answered(!session.isFailed());
        return session;
    }
}
