package dev.tidemark.loadtest.compare;

import dev.tidemark.loadtest.Http;
import dev.tidemark.loadtest.OpenLoop;
import dev.tidemark.loadtest.driver.StreamedRead;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.HdrHistogram.Histogram;

/** How long reads take that begin anywhere in a stream, until the first byte of what they give comes. */
final class RandomReads {
    private static final int READS = 1_000;
    private static final int WARM_UP_READS = 200;
    private static final long SEED = 20_261_130;
    private static final double FIRST_BYTE_MS_MAX = 10;
    private static final double NS_PER_MS = 1e6;
    private static final Pattern EVENT = Pattern.compile("\"id\":\"(EVT[^\"]+)\".*?\"at\":(\\d+)");

    private final int port;
    private final String path;
    private final Random random = new Random(SEED);

    /** An event's id and its time, Unix ms. */
    private record Place(String id, long at) {}

    RandomReads(int port, String stream) {
        this.port = port;
        this.path = "/v1/streams/" + stream + "/events";
    }

    /** A request for lines. */
    static byte[] ndjson(String path) {
        return ("GET " + path + " HTTP/1.1\r\nHost: localhost\r\nAccept: application/x-ndjson\r\n\r\n")
                .getBytes(StandardCharsets.US_ASCII);
    }

    private Place place(Http http, String query) throws IOException {
        String page = http.expect(200, Http.get(path + query)).text();
        Matcher matcher = EVENT.matcher(page);
        if (!matcher.find()) {
            throw new IOException("no event in " + page);
        }
        return new Place(matcher.group(1), Long.parseLong(matcher.group(2)));
    }

    /** Measures and adds a row for each kind of beginning. */
    void rows(Table table) throws IOException {
        List<byte[]> fromTimes = new ArrayList<>();
        List<byte[]> afterIds = new ArrayList<>();
        try (Http http = new Http(port)) {
            long first = place(http, "?limit=1").at();
            long last = place(http, "?limit=1&order=desc").at();
            for (int i = 0; i < READS + WARM_UP_READS; i++) {
                fromTimes.add(ndjson(path + "?from=" + (first + random.nextLong(last - first))));
                long near = first + random.nextLong(last - first);
                afterIds.add(ndjson(
                        path + "?after=" + place(http, "?limit=1&from=" + near).id()));
            }
        }
        row(table, "a random time", fromTimes);
        row(table, "a random position", afterIds);
    }

    private void row(Table table, String from, List<byte[]> requests) throws IOException {
        StreamedRead read = new StreamedRead(port);
        Histogram latencies = OpenLoop.histogram();
        for (int i = 0; i < requests.size(); i++) {
            long ns = read.firstByteNs(requests.get(i));
            if (i >= WARM_UP_READS) {
                latencies.recordValue(ns);
            }
        }
        double p50 = latencies.getValueAtPercentile(50) / NS_PER_MS;
        double p99 = latencies.getValueAtPercentile(99) / NS_PER_MS;
        String figure = Unit.MILLISECONDS.shown(p50) + ", p99 " + Unit.MILLISECONDS.shown(p99);
        System.out.println("    first byte from " + from + ": p50 " + figure);
        table.row(
                "6",
                "first byte from " + from,
                "p50 " + figure,
                "p99 ≤ " + Unit.MILLISECONDS.shown(FIRST_BYTE_MS_MAX),
                Bar.word(p99 <= FIRST_BYTE_MS_MAX),
                READS + " reads one after the other, of everything from there as NDJSON, cut after the first byte");
    }
}
