package dev.tidemark.loadtest.compare;

import dev.tidemark.loadtest.Http;
import dev.tidemark.loadtest.Payloads;
import dev.tidemark.loadtest.driver.ClosedLoop;
import dev.tidemark.loadtest.driver.HttpAnswers;
import dev.tidemark.loadtest.driver.StreamedRead;
import dev.tidemark.loadtest.system.Tidemark;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** What the archive takes and gives: fold, a sustained run at the greatest rate of appends, reads of all and from anywhere. */
final class ArchiveRun {
    static final String STREAM = "archive";
    static final int BATCH = 500;

    private static final int CONNECTIONS = 4;
    private static final int FOLDED_EVENTS = 400_000;
    private static final int PIECE_SECONDS = 10;
    private static final double FOLD_PER_SECOND_MIN = 150_000;
    private static final double READ_PER_SECOND_MIN = 300_000;
    private static final double NS_PER_SECOND = 1e9;
    private static final byte[] NOTHING = {'{', '}'};

    private final CompareOptions options;
    private final Table table = new Table("bar", "what", "figure", "asked", "reached", "method");

    ArchiveRun(CompareOptions options) {
        this.options = options;
    }

    /** Gives the part of the results. */
    String run(String head) throws IOException, InterruptedException {
        foldRate();
        String plots;
        try (Tidemark server = Tidemark.start(options.server())) {
            server.putStream(STREAM, "{\"live_max_events\":1000}");
            SustainedRun sustained = new SustainedRun(server, options, load(server.port()));
            sustained.run();
            sustained.rows(table);
            fill(server.port());
            fold(server.port());
            readAll(server.port());
            new RandomReads(server.port(), STREAM).rows(table);
            sustained.sample();
            plots = sustained.plots(options.results());
        }
        return head + "\n" + table + "\n" + plots;
    }

    private static ClosedLoop load(int port) {
        byte[] batch = Http.request(
                "POST", "/v1/streams/" + STREAM + "/events", "application/x-ndjson", Payloads.lines(BATCH));
        return new ClosedLoop(port, ClosedLoop.Request.of(batch, 1, BATCH), () -> new HttpAnswers(201));
    }

    private static void fold(int port) throws IOException {
        try (Http http = new Http(port)) {
            Http.Answer unused = http.expect(
                    200, Http.request("POST", "/v1/streams/" + STREAM + "/fold", "application/json", NOTHING));
        }
    }

    private static SeamFigures seam(int port) throws IOException {
        try (Http http = new Http(port)) {
            return SeamFigures.of(http, STREAM);
        }
    }

    /** A server that folds only when it is told to gets events, and is told to. */
    private void foldRate() throws IOException, InterruptedException {
        List<Double> rates = new ArrayList<>();
        Map<String, String> lazy = Map.of("TIDEMARK_FOLD_MAX_LAG", "1h");
        try (Tidemark server = Tidemark.start(options.server(options.fsyncs().get(0), lazy))) {
            server.putStream(STREAM, "{\"live_max_events\":100000000}");
            byte[] batch = Http.request(
                    "POST", "/v1/streams/" + STREAM + "/events", "application/x-ndjson", Payloads.lines(BATCH));
            for (int round = 0; round <= options.rounds(); round++) {
                try (Http http = new Http(server.port())) {
                    for (int appended = 0; appended < FOLDED_EVENTS; appended += BATCH) {
                        Http.Answer unused = http.expect(201, batch);
                    }
                }
                long before = seam(server.port()).archivedEvents();
                long start = System.nanoTime();
                fold(server.port());
                double seconds = (System.nanoTime() - start) / NS_PER_SECOND;
                double rate = (seam(server.port()).archivedEvents() - before) / seconds;
                System.out.println("    fold " + Unit.EVENTS.shown(rate) + (round == 0 ? " (not counted)" : ""));
                if (round > 0) {
                    rates.add(rate);
                }
            }
        }
        double median = Figures.median(rates).orElse(0);
        table.row(
                "6",
                "fold with real forces",
                Unit.EVENTS.shown(median),
                "≥ " + Unit.EVENTS.shown(FOLD_PER_SECOND_MIN),
                Bar.word(median >= FOLD_PER_SECOND_MIN),
                String.format(
                        Locale.ROOT,
                        "a live log of %,d events folded at one go, until the answer says it is done and forced; median of %d",
                        FOLDED_EVENTS,
                        rates.size()));
    }

    /** Goes on appending until the archive is as large as is wanted. */
    private void fill(int port) throws IOException {
        while (seam(port).archivedEvents() < options.events()) {
            ClosedLoop.Outcome unused = load(port).run(CONNECTIONS, 0, PIECE_SECONDS);
            System.out.printf(
                    Locale.ROOT, "    %,d events archived%n", seam(port).archivedEvents());
        }
    }

    private void readAll(int port) throws IOException {
        byte[] request = RandomReads.ndjson("/v1/streams/" + STREAM + "/events");
        SeamFigures seam = seam(port);
        List<Double> rates = new ArrayList<>();
        for (int round = 0; round < options.rounds(); round++) {
            StreamedRead.Whole whole = new StreamedRead(port).all(request, "\"id\":\"EVT", Payloads.BYTES);
            if (whole.count() < seam.archivedEvents()) {
                throw new IOException("the read gave " + whole.count() + " events of " + seam.archivedEvents());
            }
            rates.add(whole.count() * NS_PER_SECOND / whole.ns());
            System.out.println("    read of the whole stream: " + Unit.EVENTS.shown(rates.get(round)));
        }
        double rate = Figures.median(rates).orElse(0);
        table.row(
                "6",
                String.format(Locale.ROOT, "read of the whole stream, %,d events, as NDJSON", seam.archivedEvents()),
                Unit.EVENTS.shown(rate),
                "≥ " + Unit.EVENTS.shown(READ_PER_SECOND_MIN),
                Bar.word(rate >= READ_PER_SECOND_MIN),
                "one connection; the reader counts events and keeps nothing; median of " + rates.size());
    }
}
