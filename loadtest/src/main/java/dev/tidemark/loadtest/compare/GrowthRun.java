package dev.tidemark.loadtest.compare;

import dev.tidemark.loadtest.Http;
import dev.tidemark.loadtest.Payloads;
import dev.tidemark.loadtest.Throughput;
import dev.tidemark.loadtest.driver.ClosedLoop;
import dev.tidemark.loadtest.driver.HttpAnswers;
import dev.tidemark.loadtest.driver.Subscribers;
import dev.tidemark.loadtest.system.Tidemark;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.HdrHistogram.Histogram;

/** How cost grows with the number of streams, the size of the archive and the number of subscribers. */
final class GrowthRun {
    private static final List<Integer> SUBSCRIBER_COUNTS = List.of(1, 10, 100, 1_000);
    private static final int ARCHIVE_EVENTS_MIN = 10_000;
    private static final int CONNECTIONS = 4;
    private static final int MAKING_CONNECTIONS = 16;
    /** Each number of streams has a server of its own, which nothing has warmed up yet. */
    private static final int STREAM_WARM_UPS = 3;

    private static final int BATCH = 100;
    private static final int FILL_BATCH = 500;
    private static final int DIGITS = 5;
    private static final int TAIL_N = 100;
    private static final int BESIDE_PER_SECOND = 100;
    private static final double NS_PER_MS = 1e6;
    private static final String SETTINGS = "{\"live_max_events\":1000}";
    private static final String NDJSON = "application/x-ndjson";
    private static final String STREAM = "growth";

    private final CompareOptions options;
    private final Path plots;

    GrowthRun(CompareOptions options) {
        this.options = options;
        this.plots = options.results().resolveSibling("results");
    }

    /** Gives the part of the results. */
    String run(String head) throws IOException, InterruptedException {
        return head + "\n" + streams() + "\n" + archive() + "\n" + subscribers();
    }

    /** Rate of appends by number of streams that they go to in turn. */
    private String streams() throws IOException, InterruptedException {
        Table table = new Table("streams", "appended");
        List<LineChart.Point> points = new ArrayList<>();
        for (int count : options.streamCounts()) {
            try (Tidemark server = Tidemark.start(options.server())) {
                appendToEach(server.port(), count);
                ClosedLoop loop = new ClosedLoop(server.port(), number -> inTurn(number, count));
                double rate = loop.run(
                                CONNECTIONS,
                                STREAM_WARM_UPS * options.times().warmUpSeconds(),
                                options.times().seconds())
                        .perSecond();
                System.out.printf("    %d streams: %s%n", count, Unit.EVENTS.shown(rate));
                table.row(String.format(Locale.ROOT, "%,d", count), Unit.EVENTS.shown(rate));
                points.add(new LineChart.Point(count, rate));
            }
        }
        LineChart chart = new LineChart("Appends by number of streams", "streams", "events/s", true);
        chart.add("batches of " + BATCH, points);
        chart.write(plots.resolve("growth-streams.svg"));
        return "### Appends by number of streams\n\nClosed loop, " + CONNECTIONS + " connections, NDJSON batches of "
                + BATCH + " that go to the streams in turn.\n\n" + table
                + "\n![appends by number of streams](results/growth-streams.svg)\n";
    }

    private static String name(int number) {
        return String.format(Locale.ROOT, "growth-%0" + DIGITS + "d", number);
    }

    private static byte[] batch(String stream, int events) {
        return Http.request("POST", "/v1/streams/" + stream + "/events", NDJSON, Payloads.lines(events));
    }

    /** Makes the streams by appending an event to each. */
    private static void appendToEach(int port, int count) throws IOException, InterruptedException {
        List<Integer> firsts = new ArrayList<>();
        for (int i = 0; i < Math.min(count, MAKING_CONNECTIONS); i++) {
            firsts.add(i);
        }
        Throughput.onThreads(firsts, first -> {
            try (Http http = new Http(port)) {
                for (int i = first; i < count; i += MAKING_CONNECTIONS) {
                    Http.Answer unused = http.expect(201, batch(name(i), 1));
                }
            }
        });
    }

    /** A connection that goes through its share of the streams: their number is written into the request before it is sent. */
    private static ClosedLoop.Talk inTurn(int connection, int count) {
        byte[] request = batch(name(0), BATCH);
        int digitsEnd = new String(request, StandardCharsets.ISO_8859_1).indexOf("/events");
        int[] next = {connection};
        ClosedLoop.Change change = bytes -> {
            int number = next[0] % count;
            for (int i = digitsEnd - 1; i >= digitsEnd - DIGITS; i--) {
                bytes.put(i, (byte) ('0' + number % 10));
                number /= 10;
            }
            next[0] = (next[0] + CONNECTIONS) % Math.max(count, CONNECTIONS);
        };
        return new ClosedLoop.Talk(
                ByteBuffer.allocate(0), ClosedLoop.Request.of(request, 1, BATCH), new HttpAnswers(201), change);
    }

    /** Latency of tails by number of events in the archive. */
    private String archive() throws IOException, InterruptedException {
        Table table = new Table("events", "p50", "p99");
        List<LineChart.Point> p50 = new ArrayList<>();
        List<LineChart.Point> p99 = new ArrayList<>();
        try (Tidemark server = Tidemark.start(options.server())) {
            server.putStream(STREAM, SETTINGS);
            long there = 0;
            for (long size = ARCHIVE_EVENTS_MIN; size <= options.events(); size *= 10) {
                fill(server.port(), size - there);
                there = size;
                row(table, size, tails(server.port(), 0), p50, p99);
            }
        }
        plot("Tail latency by size of the archive", "events", "growth-archive.svg", p50, p99);
        return "### Tail latency by size of the archive\n\nOpen loop, " + TidemarkLatencies.TAILS_PER_SECOND
                + " tails/s, n = " + TAIL_N + ".\n\n" + table
                + "\n![tail latency by size of the archive](results/growth-archive.svg)\n";
    }

    private static void fill(int port, long events) throws IOException, InterruptedException {
        List<Long> shares = new ArrayList<>();
        for (int i = 0; i < CONNECTIONS; i++) {
            shares.add(events / CONNECTIONS);
        }
        byte[] batch = batch(STREAM, FILL_BATCH);
        Throughput.onThreads(shares, share -> {
            try (Http http = new Http(port)) {
                for (long appended = 0; appended < share; appended += FILL_BATCH) {
                    Http.Answer unused = http.expect(201, batch);
                }
            }
        });
        try (Http http = new Http(port)) {
            Http.Answer unused = http.send(
                    Http.request("POST", "/v1/streams/" + STREAM + "/fold", "application/json", new byte[] {'{', '}'}));
        }
    }

    private Histogram tails(int port, int besidePerSecond) throws IOException, InterruptedException {
        TidemarkLatencies latencies =
                new TidemarkLatencies(port, STREAM, options.times().seconds());
        Histogram warmUp = latencies.ofTails(TAIL_N, besidePerSecond);
        warmUp.reset();
        return latencies.ofTails(TAIL_N, besidePerSecond);
    }

    private static void row(
            Table table, long count, Histogram latencies, List<LineChart.Point> p50, List<LineChart.Point> p99) {
        double median = latencies.getValueAtPercentile(50) / NS_PER_MS;
        double high = latencies.getValueAtPercentile(99) / NS_PER_MS;
        System.out.printf(Locale.ROOT, "    %,d: tail p50 %.3f ms, p99 %.3f ms%n", count, median, high);
        table.row(
                String.format(Locale.ROOT, "%,d", count),
                Unit.MILLISECONDS.shown(median),
                Unit.MILLISECONDS.shown(high));
        p50.add(new LineChart.Point(count, median));
        p99.add(new LineChart.Point(count, high));
    }

    private void plot(String title, String xTitle, String file, List<LineChart.Point> p50, List<LineChart.Point> p99)
            throws IOException {
        LineChart chart = new LineChart(title, xTitle, "ms", true);
        chart.add("p50", p50);
        chart.add("p99", p99);
        chart.write(plots.resolve(file));
    }

    /** Latency of tails by number of subscribers, who get what goes in meanwhile. */
    private String subscribers() throws IOException, InterruptedException {
        Table table = new Table("subscribers", "p50", "p99");
        List<LineChart.Point> p50 = new ArrayList<>();
        List<LineChart.Point> p99 = new ArrayList<>();
        Subscribers.Talk talk = new Subscribers.Talk(
                "/v1/streams/" + STREAM + "/subscribe?after=latest",
                "",
                "\"id\":\"EVT",
                Payloads.BYTES,
                "\"type\":\"hello\"");
        try (Tidemark server = Tidemark.start(options.server())) {
            server.putStream(STREAM, SETTINGS);
            fill(server.port(), ARCHIVE_EVENTS_MIN);
            for (int count : SUBSCRIBER_COUNTS) {
                try (Subscribers subscribers = Subscribers.open(server.port(), count, talk)) {
                    row(table, count, tails(server.port(), BESIDE_PER_SECOND), p50, p99);
                    System.out.printf(Locale.ROOT, "    %,d deliveries meanwhile%n", subscribers.total());
                }
            }
        }
        plot("Tail latency by number of subscribers", "subscribers", "growth-subscribers.svg", p50, p99);
        return "### Tail latency by number of subscribers\n\nAs above; every subscriber gets the " + BESIDE_PER_SECOND
                + " events/s that go in meanwhile, in batches of " + TidemarkLatencies.BESIDE_BATCH + ".\n\n" + table
                + "\n![tail latency by number of subscribers](results/growth-subscribers.svg)\n";
    }
}
