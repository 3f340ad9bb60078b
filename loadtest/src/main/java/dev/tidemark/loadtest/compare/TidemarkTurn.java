package dev.tidemark.loadtest.compare;

import dev.tidemark.loadtest.Http;
import dev.tidemark.loadtest.OpenLoop;
import dev.tidemark.loadtest.Payloads;
import dev.tidemark.loadtest.Throughput;
import dev.tidemark.loadtest.driver.ClosedLoop;
import dev.tidemark.loadtest.driver.HttpAnswers;
import dev.tidemark.loadtest.system.RedisServer;
import dev.tidemark.loadtest.system.Tidemark;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.HdrHistogram.Histogram;

/** Tidemark with a Redis of its own. Its streams have a live log of 1,000 events, so that folding and trimming go on all the time. */
final class TidemarkTurn implements Turn {
    static final Set<Job> JOBS = EnumSet.allOf(Job.class);

    private static final String SETTINGS = "{\"live_max_events\":1000}";
    private static final String NDJSON = "application/x-ndjson";
    private static final String JSON = "application/json";
    private static final int BATCH = 500;
    private static final int BATCH_CONNECTIONS = 4;
    private static final int SINGLE_CONNECTIONS = 64;
    private static final int TAIL_CONNECTIONS = 16;
    private static final int TAILS_PER_SECOND = 500;
    private static final int BESIDE_PER_SECOND = 5_000;
    private static final int BESIDE_BATCH = 20;
    /** What a stream holds when it is tailed. */
    private static final int TAILED_EVENTS = 10_000;

    private final Tidemark server;
    private final String fsync;
    private final Times times;

    TidemarkTurn(Tidemark server, String fsync, Times times) {
        this.server = server;
        this.fsync = fsync;
        this.times = times;
    }

    @Override
    public String version() throws IOException {
        return "this tree, with Redis " + RedisServer.version(server.redisPort());
    }

    @Override
    public String durability() throws IOException {
        return "appendfsync " + RedisServer.setting(server.redisPort(), "appendfsync")
                + "; folded into the archive and forced there within 10 s";
    }

    @Override
    public void run(Job job, Figures figures) throws IOException, InterruptedException {
        RedisServer.awaitQuiet(server.redisPort());
        server.putStream(job.word(), SETTINGS);
        switch (job) {
            case APPEND_BATCHES -> appendBatches(job, figures);
            case APPEND_SINGLE -> appendSingle(job, figures);
            case TAIL -> tail(job, figures);
            case TAIL_LATENCY -> tailLatency(job, figures);
        }
        fold(job);
    }

    private Figures.Key key(Measure measure) {
        return new Figures.Key(measure, Side.TIDEMARK, fsync);
    }

    private static String events(Job job) {
        return "/v1/streams/" + job.word() + "/events";
    }

    private static byte[] batch(Job job, int events) {
        return Http.request("POST", events(job), NDJSON, Payloads.lines(events));
    }

    private static byte[] tailRequest(Job job, int n) {
        return Http.get("/v1/streams/" + job.word() + "/tail?n=" + n);
    }

    private ClosedLoop.Outcome closedLoop(byte[] request, int events, int status, int connections) throws IOException {
        ClosedLoop loop =
                new ClosedLoop(server.port(), ClosedLoop.Request.of(request, 1, events), () -> new HttpAnswers(status));
        return loop.run(connections, times.warmUpSeconds(), times.seconds());
    }

    private void appendBatches(Job job, Figures figures) throws IOException {
        figures.add(
                key(Measure.APPEND_BATCHES),
                "closed loop, " + BATCH_CONNECTIONS + " connections, NDJSON",
                closedLoop(batch(job, BATCH), BATCH, 201, BATCH_CONNECTIONS).perSecond());
    }

    private void appendSingle(Job job, Figures figures) throws IOException {
        byte[] event = Payloads.event(0).getBytes(StandardCharsets.UTF_8);
        figures.add(
                key(Measure.APPEND_SINGLE),
                "closed loop, " + SINGLE_CONNECTIONS + " connections, JSON",
                closedLoop(Http.request("POST", events(job), JSON, event), 1, 201, SINGLE_CONNECTIONS)
                        .perSecond());
    }

    private void fill(Job job) throws IOException {
        try (Http http = new Http(server.port())) {
            for (int filled = 0; filled < TAILED_EVENTS; filled += BATCH) {
                Http.Answer unused = http.expect(201, batch(job, BATCH));
            }
        }
    }

    /** Folds and trims what a job left, so that it isn't done while the next one is measured. */
    private void fold(Job job) throws IOException {
        try (Http http = new Http(server.port())) {
            Http.Answer unused =
                    http.send(Http.request("POST", "/v1/streams/" + job.word() + "/fold", JSON, new byte[] {'{', '}'}));
        }
    }

    private void tail(Job job, Figures figures) throws IOException {
        fill(job);
        String method = "closed loop, " + TAIL_CONNECTIONS + " connections, HTTP";
        figures.add(
                key(Measure.TAIL_10),
                method,
                closedLoop(tailRequest(job, 10), 1, 200, TAIL_CONNECTIONS).perSecond());
        figures.add(
                key(Measure.TAIL_100),
                method,
                closedLoop(tailRequest(job, 100), 1, 200, TAIL_CONNECTIONS).perSecond());
    }

    private void tailLatency(Job job, Figures figures) throws IOException, InterruptedException {
        fill(job);
        String method = "open loop, " + TAIL_CONNECTIONS + " connections, HTTP";
        for (int n : new int[] {10, 100}) {
            Histogram quiet = tailLatencies(job, n, 0);
            figures.add(key(n == 10 ? Measure.TAIL_10_P50 : Measure.TAIL_100_P50), method, quiet, 50);
            figures.add(key(n == 10 ? Measure.TAIL_10_P99 : Measure.TAIL_100_P99), method, quiet, 99);
            Histogram busy = tailLatencies(job, n, BESIDE_PER_SECOND);
            String beside = method + "; the appends in batches of " + BESIDE_BATCH;
            figures.add(key(n == 10 ? Measure.BUSY_TAIL_10_P50 : Measure.BUSY_TAIL_100_P50), beside, busy, 50);
            figures.add(key(n == 10 ? Measure.BUSY_TAIL_10_P99 : Measure.BUSY_TAIL_100_P99), beside, busy, 99);
        }
    }

    /** Latencies of tails, with that many events a second going in beside them. */
    private Histogram tailLatencies(Job job, int n, int besidePerSecond) throws IOException, InterruptedException {
        try (HttpConnections connections = HttpConnections.open(server.port(), TAIL_CONNECTIONS + 1)) {
            List<OpenLoop.Sender> tails = connections.first(TAIL_CONNECTIONS).senders(200, tailRequest(job, n));
            List<OpenLoop.Sender> appends = connections.last(1).senders(201, batch(job, BESIDE_BATCH));
            Histogram latencies = OpenLoop.histogram();
            List<Runs> runs = new ArrayList<>();
            runs.add(() -> latencies.add(OpenLoop.run(tails, TAILS_PER_SECOND, times.seconds())));
            if (besidePerSecond > 0) {
                runs.add(() -> {
                    Histogram unused = OpenLoop.run(appends, besidePerSecond / BESIDE_BATCH, times.seconds());
                });
            }
            Throughput.onThreads(runs, Runs::run);
            return latencies;
        }
    }

    /** Something that goes on beside others. */
    private interface Runs {
        void run() throws IOException, InterruptedException;
    }

    @Override
    public String logEnd() throws IOException {
        return server.logEnd();
    }

    @Override
    public void close() {
        server.close();
    }
}
