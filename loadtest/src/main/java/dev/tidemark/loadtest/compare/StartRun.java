package dev.tidemark.loadtest.compare;

import dev.tidemark.loadtest.Http;
import dev.tidemark.loadtest.Payloads;
import dev.tidemark.loadtest.system.ProcessFigures;
import dev.tidemark.loadtest.system.Tidemark;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** How soon a server with many streams on disk is ready, and what it costs when nobody wants anything of it. */
final class StartRun {
    private static final int EVENTS = 20;
    private static final int SETTLE_SECONDS = 15;
    private static final int IDLE_SECONDS = 30;
    /** Until then the JIT compiler works off what the start has made hot. */
    private static final int COMPILED_SECONDS = 150;

    private static final double READY_SECONDS_MAX = 3;
    private static final double IDLE_PERCENT_MAX = 2;

    private final CompareOptions options;
    private final List<Double> readySeconds = new ArrayList<>();
    private Idle firstMinute = new Idle(Double.NaN, Double.NaN);
    private Idle settled = firstMinute;

    StartRun(CompareOptions options) {
        this.options = options;
    }

    /** Gives the part of the results. */
    String run(String head) throws IOException, InterruptedException {
        Tidemark.Start start = options.server();
        Tidemark server = Tidemark.start(start);
        try {
            fill(server.port());
            for (int round = 0; round < options.rounds(); round++) {
                server = server.restart(start);
                readySeconds.add(server.secondsToReady());
                System.out.println("    ready after " + Unit.SECONDS.shown(server.secondsToReady()));
            }
            idle(server);
        } finally {
            server.close();
        }
        return head + "\n" + table();
    }

    private void fill(int port) throws IOException {
        System.out.println("    making " + options.streams() + " streams");
        byte[] events = Payloads.lines(EVENTS);
        try (Http http = new Http(port)) {
            for (int i = 0; i < options.streams(); i++) {
                String stream = "/v1/streams/start-" + i;
                Http.Answer unused =
                        http.expect(201, Http.request("POST", stream + "/events", "application/x-ndjson", events));
                Http.Answer unusedToo = http.expect(
                        200,
                        Http.request(
                                "POST", stream + "/fold", "application/json", "{}".getBytes(StandardCharsets.UTF_8)));
            }
        }
    }

    private void idle(Tidemark server) throws IOException, InterruptedException {
        TimeUnit.SECONDS.sleep(SETTLE_SECONDS);
        firstMinute = Idle.of(server);
        TimeUnit.SECONDS.sleep(COMPILED_SECONDS - SETTLE_SECONDS - IDLE_SECONDS);
        settled = Idle.of(server);
    }

    /** Percent of a core, over {@link #IDLE_SECONDS}. */
    private record Idle(double server, double redis) {
        static Idle of(Tidemark server) throws IOException, InterruptedException {
            double serverBefore = ProcessFigures.cpuSeconds(server.pid());
            double redisBefore = ProcessFigures.cpuSeconds(server.redisPid());
            TimeUnit.SECONDS.sleep(IDLE_SECONDS);
            Idle idle = new Idle(
                    (ProcessFigures.cpuSeconds(server.pid()) - serverBefore) * 100 / IDLE_SECONDS,
                    (ProcessFigures.cpuSeconds(server.redisPid()) - redisBefore) * 100 / IDLE_SECONDS);
            System.out.printf("    idle: server %.2f %%, its Redis %.2f %% of a core%n", idle.server, idle.redis);
            return idle;
        }

        double both() {
            return server + redis;
        }

        String method(int fromSeconds) {
            return "over " + IDLE_SECONDS + " s, from " + fromSeconds + " s after the last start; server "
                    + Unit.PERCENT.shown(server) + ", Redis " + Unit.PERCENT.shown(redis);
        }
    }

    private String table() {
        double ready = Figures.median(readySeconds).orElse(Double.NaN);
        Table table = new Table("bar", "what", "figure", "asked", "reached", "method");
        table.row(
                "8",
                "from process start to ready, own Redis, " + options.streams() + " streams on disk",
                Unit.SECONDS.shown(ready),
                "≤ " + Unit.SECONDS.shown(READY_SECONDS_MAX),
                Bar.word(ready <= READY_SECONDS_MAX),
                "median of " + readySeconds.size() + " restarts; /health/ready asked every 5 ms");
        table.row(
                "8",
                "CPU of an idle server with its Redis",
                Unit.PERCENT.shown(settled.both()) + " of a core",
                "< " + Unit.PERCENT.shown(IDLE_PERCENT_MAX),
                Bar.word(settled.both() < IDLE_PERCENT_MAX),
                settled.method(COMPILED_SECONDS));
        table.row(
                "8",
                "the same while the JVM still compiles what the start used",
                Unit.PERCENT.shown(firstMinute.both()) + " of a core",
                "",
                "",
                firstMinute.method(SETTLE_SECONDS));
        return table.toString();
    }
}
