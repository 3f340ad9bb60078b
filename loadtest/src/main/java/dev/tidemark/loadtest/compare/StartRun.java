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
    private static final double READY_SECONDS_MAX = 3;
    private static final double IDLE_PERCENT_MAX = 2;

    private final CompareOptions options;
    private final List<Double> readySeconds = new ArrayList<>();
    private double serverPercent;
    private double redisPercent;

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
        double serverBefore = ProcessFigures.cpuSeconds(server.pid());
        double redisBefore = ProcessFigures.cpuSeconds(server.redisPid());
        TimeUnit.SECONDS.sleep(IDLE_SECONDS);
        serverPercent = (ProcessFigures.cpuSeconds(server.pid()) - serverBefore) * 100 / IDLE_SECONDS;
        redisPercent = (ProcessFigures.cpuSeconds(server.redisPid()) - redisBefore) * 100 / IDLE_SECONDS;
        System.out.printf("    idle: server %.2f %%, its Redis %.2f %% of a core%n", serverPercent, redisPercent);
    }

    private String table() {
        double ready = Figures.median(readySeconds).orElse(Double.NaN);
        double idle = serverPercent + redisPercent;
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
                Unit.PERCENT.shown(idle) + " of a core",
                "< " + Unit.PERCENT.shown(IDLE_PERCENT_MAX),
                Bar.word(idle < IDLE_PERCENT_MAX),
                "over " + IDLE_SECONDS + " s, from " + SETTLE_SECONDS + " s after the last start; server "
                        + Unit.PERCENT.shown(serverPercent) + ", Redis " + Unit.PERCENT.shown(redisPercent));
        return table.toString();
    }
}
