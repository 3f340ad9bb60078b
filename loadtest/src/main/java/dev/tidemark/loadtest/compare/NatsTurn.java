package dev.tidemark.loadtest.compare;

import dev.tidemark.loadtest.Payloads;
import dev.tidemark.loadtest.driver.ClosedLoop;
import dev.tidemark.loadtest.driver.NatsAnswers;
import dev.tidemark.loadtest.driver.Subscribers;
import dev.tidemark.loadtest.system.NatsServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import java.util.Set;

/** NATS JetStream with its stream in a file: by its own Java client, and by the driver that Tidemark is measured with. */
final class NatsTurn implements Turn {
    static final Set<Job> JOBS = EnumSet.of(Job.APPEND_BATCHES, Job.APPEND_SINGLE, Job.FAN_OUT);

    private static final int BATCH = 500;
    private static final int BATCH_CONNECTIONS = 4;
    private static final int SINGLE_CONNECTIONS = 64;

    private final NatsServer server;
    private final Times times;

    NatsTurn(NatsServer server, Times times) {
        this.server = server;
        this.times = times;
    }

    @Override
    public String version() throws IOException, InterruptedException {
        return NatsServer.version() + ", jnats " + NatsClient.version();
    }

    @Override
    public String durability() {
        return "file storage: written to the file before it is acknowledged, forced every two minutes (sync_interval, NATS's default)";
    }

    @Override
    public void run(Job job, Figures figures) throws IOException, InterruptedException {
        NatsClient client = new NatsClient(server.port(), job.word(), times);
        client.createStream();
        switch (job) {
            case APPEND_BATCHES -> appendBatches(client, job, figures);
            case APPEND_SINGLE -> appendSingle(client, job, figures);
            case FAN_OUT -> fanOut(job, figures);
            default -> throw new IllegalArgumentException("NATS has no " + job.word());
        }
    }

    private void appendBatches(NatsClient client, Job job, Figures figures) throws IOException, InterruptedException {
        String inFlight = BATCH_CONNECTIONS + " connections, " + BATCH + " in flight on each";
        figures.add(
                key(Measure.APPEND_BATCHES, Side.NATS_CLIENT),
                "publishAsync, " + inFlight,
                client.publishAsync(BATCH_CONNECTIONS, BATCH));
        figures.add(
                key(Measure.APPEND_BATCHES, Side.NATS_DRIVER),
                "closed loop, " + inFlight,
                driver(job, BATCH_CONNECTIONS, BATCH));
    }

    private void appendSingle(NatsClient client, Job job, Figures figures) throws IOException, InterruptedException {
        figures.add(
                key(Measure.APPEND_SINGLE, Side.NATS_ONE_CLIENT),
                "publish, one thread on one connection",
                client.publish(1, 1));
        figures.add(
                key(Measure.APPEND_SINGLE, Side.NATS_CLIENT),
                "publish, " + SINGLE_CONNECTIONS + " threads on " + BATCH_CONNECTIONS + " connections",
                client.publish(SINGLE_CONNECTIONS, BATCH_CONNECTIONS));
        figures.add(
                key(Measure.APPEND_SINGLE, Side.NATS_DRIVER),
                "closed loop, " + SINGLE_CONNECTIONS + " connections, one in flight on each",
                driver(job, SINGLE_CONNECTIONS, 1));
    }

    /**
     * Events are stored in the stream; the subscribers are plain ones of its subject, which costs NATS less than a consumer of the
     * stream for each, though they can't begin at a position or fall back on what is stored.
     */
    private void fanOut(Job job, Figures figures) throws IOException, InterruptedException {
        String first = "CONNECT {\"verbose\":false,\"pedantic\":false}\r\nSUB " + job.word() + " 1\r\nPING\r\n";
        Subscribers.Talk talk = new Subscribers.Talk("/", first, "MSG " + job.word(), Payloads.BYTES, "PONG");
        FanOut fanOut = new FanOut(server.webSocketPort(), talk, times);
        for (int count : new int[] {100, 1_000}) {
            try (NatsPublisher publisher = new NatsPublisher(server.port(), talk(job, 0, FanOut.BATCH))) {
                double perSecond = fanOut.perSecond(count, publisher::publish);
                figures.add(
                        key(count == 100 ? Measure.FAN_OUT_100 : Measure.FAN_OUT_1000, Side.NATS_DRIVER),
                        FanOut.method(count) + "; stored in JetStream, plain subscribers of the subject",
                        perSecond);
            }
        }
    }

    private double driver(Job job, int connections, int inFlight) throws IOException {
        ClosedLoop loop = new ClosedLoop(server.port(), number -> talk(job, number, inFlight));
        return loop.run(connections, Times.SHORT_WARM_UP_SECONDS, times.seconds())
                .perSecond();
    }

    /** Publishes with an inbox for the acknowledgements, as JetStream's clients do. */
    private static ClosedLoop.Talk talk(Job job, int number, int inFlight) {
        String inbox = "_INBOX.compare." + number;
        String greeting = "CONNECT {\"verbose\":false,\"pedantic\":false}\r\nSUB " + inbox + " 1\r\n";
        ByteArrayOutputStream publishes = new ByteArrayOutputStream();
        for (int i = 0; i < inFlight; i++) {
            publishes.writeBytes(text(
                    "PUB " + job.word() + " " + inbox + " " + Payloads.BYTES + "\r\n" + Payloads.event(i) + "\r\n"));
        }
        return new ClosedLoop.Talk(
                ByteBuffer.wrap(text(greeting)),
                ClosedLoop.Request.of(publishes.toByteArray(), inFlight, inFlight),
                new NatsAnswers());
    }

    private static byte[] text(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static Figures.Key key(Measure measure, Side side) {
        return new Figures.Key(measure, side, "");
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
