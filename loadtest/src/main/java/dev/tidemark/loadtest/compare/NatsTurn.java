package dev.tidemark.loadtest.compare;

import dev.tidemark.loadtest.Payloads;
import dev.tidemark.loadtest.driver.ClosedLoop;
import dev.tidemark.loadtest.driver.NatsAnswers;
import dev.tidemark.loadtest.system.NatsServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import java.util.Set;

/** NATS JetStream with its stream in a file: by its own Java client, and by the driver that Tidemark is measured with. */
final class NatsTurn implements Turn {
    static final Set<Job> JOBS = EnumSet.of(Job.APPEND_BATCHES, Job.APPEND_SINGLE);

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
    public String version() throws IOException {
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
        if (job == Job.APPEND_BATCHES) {
            figures.add(
                    key(Measure.APPEND_BATCHES, Side.NATS_CLIENT),
                    "publishAsync, " + BATCH_CONNECTIONS + " connections, " + BATCH + " in flight on each",
                    client.publishAsync(BATCH_CONNECTIONS, BATCH));
            figures.add(
                    key(Measure.APPEND_BATCHES, Side.NATS_DRIVER),
                    "closed loop, " + BATCH_CONNECTIONS + " connections, " + BATCH + " in flight on each",
                    driver(job, BATCH_CONNECTIONS, BATCH));
        } else {
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
