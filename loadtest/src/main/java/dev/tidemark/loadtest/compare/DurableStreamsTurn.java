package dev.tidemark.loadtest.compare;

import dev.tidemark.loadtest.Http;
import dev.tidemark.loadtest.Payloads;
import dev.tidemark.loadtest.driver.ClosedLoop;
import dev.tidemark.loadtest.driver.HttpAnswers;
import dev.tidemark.loadtest.system.DurableStreamsServer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** The Durable Streams server for Node, over HTTP. */
final class DurableStreamsTurn implements Turn {
    static final Set<Job> JOBS = EnumSet.of(Job.APPEND_BATCHES, Job.APPEND_SINGLE);

    private static final String JSON = "application/json";
    private static final int BATCH = 500;
    private static final int BATCH_CONNECTIONS = 4;
    private static final int SINGLE_CONNECTIONS = 64;

    private final DurableStreamsServer server;
    private final Path installed;
    private final Times times;

    /** @param installed directory in which npm has installed the server */
    DurableStreamsTurn(DurableStreamsServer server, Path installed, Times times) {
        this.server = server;
        this.installed = installed;
        this.times = times;
    }

    @Override
    public String version() throws IOException, InterruptedException {
        return DurableStreamsServer.version(installed);
    }

    @Override
    public String durability() {
        return "forced to disk (fdatasync) before it is acknowledged; appends that wait share a force";
    }

    @Override
    public void run(Job job, Figures figures) throws IOException {
        String path = "/v1/stream/" + job.word();
        try (Http http = new Http(server.port())) {
            // The stream's type is that of the body, which is empty: an array without events.
            Http.Answer unused = http.expect(201, Http.request("PUT", path, JSON, text("[]")));
        }
        if (job == Job.APPEND_BATCHES) {
            String events =
                    IntStream.range(0, BATCH).mapToObj(Payloads::event).collect(Collectors.joining(",", "[", "]"));
            figures.add(
                    key(Measure.APPEND_BATCHES),
                    "closed loop, " + BATCH_CONNECTIONS + " connections, JSON arrays",
                    closedLoop(path, events, BATCH, BATCH_CONNECTIONS));
        } else {
            figures.add(
                    key(Measure.APPEND_SINGLE),
                    "closed loop, " + SINGLE_CONNECTIONS + " connections, JSON",
                    closedLoop(path, Payloads.event(0), 1, SINGLE_CONNECTIONS));
        }
    }

    private double closedLoop(String path, String body, int events, int connections) throws IOException {
        byte[] request = Http.request("POST", path, JSON, text(body));
        ClosedLoop loop =
                new ClosedLoop(server.port(), ClosedLoop.Request.of(request, 1, events), () -> new HttpAnswers(204));
        return loop.run(connections, times.warmUpSeconds(), times.seconds()).perSecond();
    }

    private static byte[] text(String body) {
        return body.getBytes(StandardCharsets.UTF_8);
    }

    private static Figures.Key key(Measure measure) {
        return new Figures.Key(measure, Side.DURABLE_STREAMS, "");
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
