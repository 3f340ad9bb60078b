package dev.tidemark.loadtest;

import dev.tidemark.loadtest.driver.TimedSubscriber;
import dev.tidemark.loadtest.system.RedisServer;
import dev.tidemark.loadtest.system.Tidemark;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.HdrHistogram.Histogram;

/** What is measured, one system at a time: Tidemark over HTTP and WebSocket, and the same Redis directly. */
final class Jobs {
    static final String APPEND = "Tidemark append";
    static final String RAW_XADD = "raw pipelined XADD";
    static final String REDIS_BENCHMARK = "redis-benchmark XADD -c 4 -P 64";

    private static final String STREAM = "loadtest";
    private static final String EVENTS = "/v1/streams/" + STREAM + "/events";
    private static final String RAW_KEY = "loadtest:raw";
    private static final String NDJSON = "application/x-ndjson";
    private static final int CONNECTIONS = 4;
    private static final int BATCH = 500;
    private static final int TAILS_PER_SECOND = 500;
    /** What goes in while tails are measured, so that folds and trims go on. */
    private static final int BESIDE_PER_SECOND = 2_000;

    private static final int BESIDE_BATCH = 20;
    private static final int SUBSCRIBE_PER_SECOND = 5_000;
    private static final int SUBSCRIBE_CONNECTIONS = 16;

    private final Options options;
    private final int port;
    private final int redisPort;
    private final Report report;

    Jobs(Options options, int port, int redisPort, Report report) {
        this.options = options;
        this.port = port;
        this.redisPort = redisPort;
        this.report = report;
    }

    /** Opens connections, uses them, closes them. */
    private interface Use<C> {
        void with(List<C> connections) throws IOException, InterruptedException;
    }

    private void overHttp(int count, Use<Http> use) throws IOException, InterruptedException {
        List<Http> connections = new ArrayList<>();
        try {
            for (int i = 0; i < count; i++) {
                connections.add(new Http(port));
            }
            use.with(connections);
        } finally {
            for (Http connection : connections) {
                connection.close();
            }
        }
    }

    private void overRedis(int count, Use<Redis> use) throws IOException, InterruptedException {
        List<Redis> connections = new ArrayList<>();
        try {
            for (int i = 0; i < count; i++) {
                connections.add(new Redis(redisPort));
            }
            use.with(connections);
        } finally {
            for (Redis connection : connections) {
                connection.close();
            }
        }
    }

    /** Makes the stream with a live log so short that everything is folded and trimmed all the time. */
    static void createStream(Tidemark server) throws IOException {
        server.putStream(STREAM, "{\"live_max_events\":1000}");
    }

    private static List<Throughput.Sender> appenders(List<Http> connections, byte[] batch) {
        List<Throughput.Sender> senders = new ArrayList<>();
        for (Http http : connections) {
            senders.add(() -> {
                Http.Answer unused = http.expect(201, batch);
                return BATCH;
            });
        }
        return senders;
    }

    private static List<OpenLoop.Sender> tails(List<Http> connections, int n) {
        byte[] tail = Http.get("/v1/streams/" + STREAM + "/tail?n=" + n);
        List<OpenLoop.Sender> senders = new ArrayList<>();
        for (Http http : connections) {
            senders.add(startNs -> {
                Http.Answer unused = http.expect(200, tail);
            });
        }
        return senders;
    }

    void append() throws IOException, InterruptedException {
        RedisServer.awaitQuiet(redisPort);
        byte[] batch = Http.request("POST", EVENTS, NDJSON, Payloads.lines(BATCH));
        overHttp(
                CONNECTIONS,
                connections -> report.add(
                        APPEND, "events/s", Throughput.perSecond(appenders(connections, batch), options.seconds())));
        printSeam();
        rawXadd();
        RedisServer.awaitQuiet(redisPort);
        OptionalDouble benchmark = RedisBenchmark.xadd(redisPort, RAW_KEY);
        if (benchmark.isPresent()) {
            report.add(REDIS_BENCHMARK, "events/s", benchmark.getAsDouble());
        }
        removeRawKey();
    }

    private void rawXadd() throws IOException, InterruptedException {
        RedisServer.awaitQuiet(redisPort);
        byte[] xadds = xadds(BATCH);
        overRedis(CONNECTIONS, connections -> {
            List<Throughput.Sender> senders = new ArrayList<>();
            for (Redis redis : connections) {
                senders.add(() -> {
                    Object unused = redis.send(xadds, BATCH);
                    return BATCH;
                });
            }
            report.add(RAW_XADD, "events/s", Throughput.perSecond(senders, options.seconds()));
        });
        removeRawKey();
    }

    private static byte[] xadds(int count) {
        ByteArrayOutputStream commands = new ByteArrayOutputStream();
        for (int i = 0; i < count; i++) {
            commands.writeBytes(Redis.command("XADD", RAW_KEY, "*", "data", Payloads.event(i)));
        }
        return commands.toByteArray();
    }

    private void removeRawKey() throws IOException {
        try (Redis redis = new Redis(redisPort)) {
            Object unused = redis.call("UNLINK", RAW_KEY);
        }
    }

    /** Tails over HTTP and XREVRANGE on a key of the same events; the same rate of appends beside both. */
    void tail() throws IOException, InterruptedException {
        RedisServer.awaitQuiet(redisPort);
        for (int n : new int[] {10, 100}) {
            overHttp(CONNECTIONS + 1, connections -> {
                List<Http> readers = connections.subList(0, CONNECTIONS);
                byte[] beside = Http.request("POST", EVENTS, NDJSON, Payloads.lines(BESIDE_BATCH));
                Http writer = connections.get(CONNECTIONS);
                report.add("Tidemark tail n=" + n, besides(tails(readers, n), startNs -> {
                    Http.Answer unused = writer.expect(201, beside);
                }));
            });
        }
        RedisServer.awaitQuiet(redisPort);
        for (int n : new int[] {10, 100}) {
            overRedis(CONNECTIONS + 1, connections -> {
                byte[] beside = xadds(BESIDE_BATCH);
                Redis writer = connections.get(CONNECTIONS);
                Object unused = writer.send(xadds(1_000), 1_000);
                report.add(
                        "XREVRANGE COUNT " + n, besides(revranges(connections.subList(0, CONNECTIONS), n), startNs -> {
                            Object ignored = writer.send(beside, BESIDE_BATCH);
                        }));
            });
            removeRawKey();
        }
    }

    private static List<OpenLoop.Sender> revranges(List<Redis> connections, int n) {
        byte[] revrange = Redis.command("XREVRANGE", RAW_KEY, "+", "-", "COUNT", String.valueOf(n));
        List<OpenLoop.Sender> senders = new ArrayList<>();
        for (Redis redis : connections) {
            senders.add(startNs -> {
                Object unused = redis.send(revrange, 1);
            });
        }
        return senders;
    }

    /** Latencies of the readers while a writer works beside them. */
    private Histogram besides(List<OpenLoop.Sender> readers, OpenLoop.Sender writer)
            throws IOException, InterruptedException {
        Histogram latencies = OpenLoop.histogram();
        Throughput.onThreads(List.of(true, false), reads -> {
            if (reads) {
                latencies.add(OpenLoop.run(readers, TAILS_PER_SECOND, options.seconds()));
            } else {
                Histogram unused = OpenLoop.run(List.of(writer), BESIDE_PER_SECOND / BESIDE_BATCH, options.seconds());
            }
        });
        return latencies;
    }

    /** From the sending of an append, one event a request, to its arrival at a subscriber. */
    void subscribe() throws IOException, InterruptedException {
        RedisServer.awaitQuiet(redisPort);
        AtomicLong appended = new AtomicLong();
        long countsFrom = System.nanoTime() + TimeUnit.SECONDS.toNanos(1);
        String path = "/v1/streams/" + STREAM + "/subscribe?after=latest";
        try (TimedSubscriber subscriber = TimedSubscriber.open(port, path, countsFrom)) {
            overHttp(SUBSCRIBE_CONNECTIONS, connections -> {
                List<OpenLoop.Sender> senders = new ArrayList<>();
                for (Http http : connections) {
                    senders.add(startNs -> {
                        byte[] event = Payloads.event(startNs).getBytes(StandardCharsets.UTF_8);
                        Http.Answer unused = http.expect(201, Http.request("POST", EVENTS, "application/json", event));
                        long ignored = appended.incrementAndGet();
                    });
                }
                report.add(
                        "Tidemark append, one event a request, " + SUBSCRIBE_PER_SECOND + "/s",
                        OpenLoop.run(senders, SUBSCRIBE_PER_SECOND, options.seconds()));
            });
            report.add(
                    "Tidemark append to subscriber, " + SUBSCRIBE_PER_SECOND + "/s",
                    subscriber.awaitAll(appended.get()));
        }
    }

    /** Shows that fold and trim were at work. */
    private void printSeam() throws IOException {
        try (Http http = new Http(port)) {
            String seam = http.expect(200, Http.get("/v1/streams/" + STREAM + "/seam"))
                    .text();
            StringBuilder shown = new StringBuilder();
            Matcher matcher = Pattern.compile("\"(live_events|archived_events|fold_lag_ms)\":\\s*\"?(\\d+)")
                    .matcher(seam);
            while (matcher.find()) {
                shown.append(' ').append(matcher.group(1)).append('=').append(matcher.group(2));
            }
            System.out.println("    right after it:" + shown);
        }
    }
}
