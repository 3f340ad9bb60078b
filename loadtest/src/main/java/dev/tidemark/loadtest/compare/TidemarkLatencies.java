package dev.tidemark.loadtest.compare;

import dev.tidemark.loadtest.Http;
import dev.tidemark.loadtest.OpenLoop;
import dev.tidemark.loadtest.Payloads;
import dev.tidemark.loadtest.Throughput;
import dev.tidemark.loadtest.driver.HttpAnswers;
import dev.tidemark.loadtest.driver.Pacer;
import dev.tidemark.loadtest.driver.TimedSubscriber;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** Latencies of one stream of Tidemark, in nanoseconds, in an open loop, alone and with other work beside it. */
record TidemarkLatencies(int port, String stream, int seconds) {
    static final int TAIL_CONNECTIONS = 16;
    static final int TAILS_PER_SECOND = 500;
    static final int BESIDE_BATCH = 20;
    static final int APPEND_CONNECTIONS = 16;
    static final int DEEP_CONNECTIONS = 4;

    /** JVMs reach their speed after some seconds of the same load. */
    private static final int COMPILE_SECONDS = 8;

    private static final String NDJSON = "application/x-ndjson";
    private static final String JSON = "application/json";

    /** Something that goes on beside something else. */
    private interface Run {
        void run() throws IOException, InterruptedException;
    }

    private String events() {
        return "/v1/streams/" + stream + "/events";
    }

    private byte[] tail(int n) {
        return Http.get("/v1/streams/" + stream + "/tail?n=" + n);
    }

    /**
     * Of tails.
     *
     * @param besidePerSecond events that go in meanwhile, in batches; 0 for none
     */
    Histogram ofTails(int n, int besidePerSecond) throws IOException, InterruptedException {
        byte[] batch = Http.request("POST", events(), NDJSON, Payloads.lines(BESIDE_BATCH));
        try (HttpConnections connections = HttpConnections.open(port, TAIL_CONNECTIONS + 1)) {
            List<OpenLoop.Sender> tails = connections.first(TAIL_CONNECTIONS).senders(200, tail(n));
            List<OpenLoop.Sender> appends = connections.last(1).senders(201, batch);
            return beside(tails, TAILS_PER_SECOND, appends, besidePerSecond / BESIDE_BATCH);
        }
    }

    /**
     * Of appends, one event a request.
     *
     * @param tailsPerSecond tails meanwhile; 0 for none
     * @param n of these tails
     */
    Histogram ofAppends(int perSecond, int tailsPerSecond, int n) throws IOException, InterruptedException {
        byte[] event = Payloads.event(0).getBytes(StandardCharsets.UTF_8);
        byte[] append = Http.request("POST", events(), JSON, event);
        try (HttpConnections connections = HttpConnections.open(port, APPEND_CONNECTIONS + DEEP_CONNECTIONS)) {
            List<OpenLoop.Sender> appends =
                    connections.first(APPEND_CONNECTIONS).senders(201, append);
            List<OpenLoop.Sender> tails = connections.last(DEEP_CONNECTIONS).senders(200, tail(n));
            return beside(appends, perSecond, tails, tailsPerSecond);
        }
    }

    /**
     * From the sending of an append, one event a request, to its arrival at a subscriber over WebSocket. What it runs is compiled in
     * the time before it counts.
     */
    Histogram toSubscriber(int perSecond) throws IOException, InterruptedException {
        String path = "/v1/streams/" + stream + "/subscribe?after=latest";
        byte[] request = Http.request("POST", events(), JSON, Payloads.event(0).getBytes(StandardCharsets.UTF_8));
        int digitsAt = new String(request, StandardCharsets.UTF_8).indexOf(Payloads.HEAD) + Payloads.HEAD.length();
        Pacer.Stamp stamp = (bytes, startNs) -> Payloads.putNumber(bytes, digitsAt, startNs);
        long countsFrom = System.nanoTime() + TimeUnit.SECONDS.toNanos(COMPILE_SECONDS);
        try (TimedSubscriber subscriber = TimedSubscriber.open(port, path, countsFrom);
                Pacer pacer = new Pacer(port, APPEND_CONNECTIONS, request, stamp, () -> new HttpAnswers(201))) {
            return subscriber.awaitAll(pacer.run(perSecond, COMPILE_SECONDS + seconds));
        }
    }

    private Histogram beside(
            List<OpenLoop.Sender> measured, int perSecond, List<OpenLoop.Sender> others, int othersPerSecond)
            throws IOException, InterruptedException {
        Histogram latencies = OpenLoop.histogram();
        List<Run> runs = new ArrayList<>();
        runs.add(() -> latencies.add(OpenLoop.run(measured, perSecond, seconds)));
        if (othersPerSecond > 0) {
            runs.add(() -> {
                Histogram unused = OpenLoop.run(others, othersPerSecond, seconds);
            });
        }
        Throughput.onThreads(runs, Run::run);
        return latencies;
    }
}
