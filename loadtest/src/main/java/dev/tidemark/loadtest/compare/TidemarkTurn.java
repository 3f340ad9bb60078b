package dev.tidemark.loadtest.compare;

import dev.tidemark.loadtest.Http;
import dev.tidemark.loadtest.Payloads;
import dev.tidemark.loadtest.driver.ClosedLoop;
import dev.tidemark.loadtest.driver.HttpAnswers;
import dev.tidemark.loadtest.driver.Subscribers;
import dev.tidemark.loadtest.system.RedisServer;
import dev.tidemark.loadtest.system.Tidemark;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
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
    private static final int BESIDE_PER_SECOND = 5_000;
    private static final int SUBSCRIBE_PER_SECOND = 5_000;
    private static final int DEEP_APPENDS_PER_SECOND = 2_000;
    private static final int DEEP_PER_SECOND = 200;
    private static final int DEEP_N = 1_000;
    /** What a stream holds when it is tailed. */
    private static final int TAILED_EVENTS = 10_000;

    private final Tidemark server;
    private final String fsync;
    private final Times times;
    private boolean warm;

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
        if (!warm) {
            warmUp(job);
            fold(job);
            RedisServer.awaitQuiet(server.redisPort());
        }
        switch (job) {
            case APPEND_BATCHES -> appendBatches(job, figures);
            case APPEND_SINGLE -> appendSingle(job, figures);
            case TAIL -> tail(job, figures);
            case TAIL_LATENCY -> tailLatency(job, figures);
            case SUBSCRIBE -> subscribe(job, figures);
            case FAN_OUT -> fanOut(job, figures);
            case DEEP_TAILS -> deepTails(job, figures);
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

    /**
     * Appends and tails before the first job, for the time of a warm-up each: a server whose code isn't compiled yet falls behind an
     * open loop, and what it then measures is the backlog.
     */
    private void warmUp(Job job) throws IOException {
        byte[] event = Payloads.event(0).getBytes(StandardCharsets.UTF_8);
        ClosedLoop.Outcome batches = closedLoop(batch(job, BATCH), BATCH, 201, BATCH_CONNECTIONS);
        ClosedLoop.Outcome single =
                closedLoop(Http.request("POST", events(job), JSON, event), 1, 201, SINGLE_CONNECTIONS);
        ClosedLoop.Outcome tails = closedLoop(tailRequest(job, 10), 1, 200, TAIL_CONNECTIONS);
        System.out.println("    warm-up with " + batches.latenciesNs().getTotalCount() + " batches, "
                + single.latenciesNs().getTotalCount() + " single events, "
                + tails.latenciesNs().getTotalCount() + " tails");
        warm = true;
    }

    private TidemarkLatencies latencies(Job job) {
        return new TidemarkLatencies(server.port(), job.word(), times.seconds());
    }

    private void tailLatency(Job job, Figures figures) throws IOException, InterruptedException {
        fill(job);
        String method = "open loop, " + TidemarkLatencies.TAIL_CONNECTIONS + " connections, HTTP";
        String beside = method + "; the appends in batches of " + TidemarkLatencies.BESIDE_BATCH;
        for (int n : new int[] {10, 100}) {
            Histogram quiet = latencies(job).ofTails(n, 0);
            figures.add(key(n == 10 ? Measure.TAIL_10_P50 : Measure.TAIL_100_P50), method, quiet, 50);
            figures.add(key(n == 10 ? Measure.TAIL_10_P99 : Measure.TAIL_100_P99), method, quiet, 99);
            Histogram busy = latencies(job).ofTails(n, BESIDE_PER_SECOND);
            figures.add(key(n == 10 ? Measure.BUSY_TAIL_10_P50 : Measure.BUSY_TAIL_100_P50), beside, busy, 50);
            figures.add(key(n == 10 ? Measure.BUSY_TAIL_10_P99 : Measure.BUSY_TAIL_100_P99), beside, busy, 99);
        }
    }

    private void subscribe(Job job, Figures figures) throws IOException, InterruptedException {
        String method = "open loop, one event a request over " + TidemarkLatencies.APPEND_CONNECTIONS
                + " connections, one WebSocket; from the start of the append to the event's arrival";
        Histogram arrivals = latencies(job).toSubscriber(SUBSCRIBE_PER_SECOND);
        figures.add(key(Measure.TO_SUBSCRIBER_P50), method, arrivals, 50);
        figures.add(key(Measure.TO_SUBSCRIBER_P99), method, arrivals, 99);
    }

    private void fanOut(Job job, Figures figures) throws IOException, InterruptedException {
        for (Side side : List.of(Side.TIDEMARK, Side.TIDEMARK_BATCHED)) {
            String batched = side == Side.TIDEMARK ? "" : "&batch=true";
            String path = "/v1/streams/" + job.word() + "/subscribe?after=latest" + batched;
            Subscribers.Talk talk =
                    new Subscribers.Talk(path, "", "\"id\":\"EVT", Payloads.BYTES, "\"type\":\"hello\"");
            FanOut fanOut = new FanOut(server.port(), talk, times);
            byte[] batch = batch(job, FanOut.BATCH);
            for (int count : new int[] {100, 1_000}) {
                try (Http http = new Http(server.port())) {
                    double perSecond = fanOut.perSecond(count, () -> {
                        Http.Answer unused = http.expect(201, batch);
                    });
                    Measure measure = count == 100 ? Measure.FAN_OUT_100 : Measure.FAN_OUT_1000;
                    figures.add(new Figures.Key(measure, side, fsync), FanOut.method(count), perSecond);
                }
            }
        }
    }

    private void deepTails(Job job, Figures figures) throws IOException, InterruptedException {
        fill(job);
        String method = "open loop, " + DEEP_APPENDS_PER_SECOND + " appends/s of one event over "
                + TidemarkLatencies.APPEND_CONNECTIONS + " connections";
        Histogram alone = latencies(job).ofAppends(DEEP_APPENDS_PER_SECOND, 0, DEEP_N);
        figures.add(key(Measure.APPEND_ALONE_P50), method, alone, 50);
        figures.add(key(Measure.APPEND_ALONE_P99), method, alone, 99);
        Histogram beside = latencies(job).ofAppends(DEEP_APPENDS_PER_SECOND, DEEP_PER_SECOND, DEEP_N);
        String tails = method + "; the tails over " + TidemarkLatencies.DEEP_CONNECTIONS;
        figures.add(key(Measure.APPEND_BESIDE_P50), tails, beside, 50);
        figures.add(key(Measure.APPEND_BESIDE_P99), tails, beside, 99);
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
