package dev.tidemark.loadtest.compare;

import dev.tidemark.loadtest.Payloads;
import dev.tidemark.loadtest.Throughput;
import io.nats.client.Connection;
import io.nats.client.JetStream;
import io.nats.client.JetStreamApiException;
import io.nats.client.Nats;
import io.nats.client.Options;
import io.nats.client.api.PublishAck;
import io.nats.client.api.StorageType;
import io.nats.client.api.StreamConfiguration;
import io.nats.client.api.StreamInfo;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** NATS's own Java client at work on one stream, whose only subject has its name. */
final class NatsClient {
    private static final byte[] EVENT = Payloads.event(0).getBytes(StandardCharsets.UTF_8);

    private static final Pattern JAR = Pattern.compile("jnats-([0-9.]+)\\.jar");

    private final String url;
    private final String stream;
    private final Times times;

    NatsClient(int port, String stream, Times times) {
        this.url = "nats://127.0.0.1:" + port;
        this.stream = stream;
        this.times = times;
    }

    static String version() {
        Matcher matcher = JAR.matcher(System.getProperty("java.class.path", ""));
        return matcher.find() ? matcher.group(1) : "of unknown version";
    }

    void createStream() throws IOException, InterruptedException {
        StreamConfiguration configuration = StreamConfiguration.builder()
                .name(stream)
                .subjects(stream)
                .storageType(StorageType.File)
                .build();
        Connection connection = Nats.connect(url);
        try {
            StreamInfo unused = connection.jetStreamManagement().addStream(configuration);
        } catch (JetStreamApiException e) {
            throw new IOException("the stream wasn't made", e);
        } finally {
            connection.close();
        }
    }

    /** Something done for each of several publishers, each on a thread of its own. */
    private interface Publisher {
        void publish(JetStream stream, Clock clock) throws IOException, InterruptedException;
    }

    /** Counts what is acknowledged within the time that counts. Any thread. */
    private static final class Clock {
        private final long countsFrom;
        private final long end;
        private final AtomicLong acknowledged = new AtomicLong();

        Clock(Times times) {
            countsFrom = System.nanoTime() + TimeUnit.SECONDS.toNanos(times.warmUpSeconds());
            end = countsFrom + TimeUnit.SECONDS.toNanos(times.seconds());
        }

        boolean isOver() {
            return System.nanoTime() - end >= 0;
        }

        void acknowledged() {
            long now = System.nanoTime();
            if (now - countsFrom >= 0 && now - end < 0) {
                long unused = acknowledged.incrementAndGet();
            }
        }
    }

    private double run(int publishers, int connections, Publisher publisher) throws IOException, InterruptedException {
        List<Connection> open = new ArrayList<>();
        try {
            List<JetStream> streams = new ArrayList<>();
            for (int i = 0; i < connections; i++) {
                open.add(Nats.connect(new Options.Builder().server(url).build()));
            }
            for (int i = 0; i < publishers; i++) {
                streams.add(open.get(i % connections).jetStream());
            }
            Clock clock = new Clock(times);
            Throughput.onThreads(streams, each -> publisher.publish(each, clock));
            return (double) clock.acknowledged.get() / times.seconds();
        } finally {
            for (Connection connection : open) {
                connection.close();
            }
        }
    }

    /** Events a second, each published when the one before it is acknowledged to its thread. */
    double publish(int threads, int connections) throws IOException, InterruptedException {
        return run(threads, connections, (jetStream, clock) -> {
            while (!clock.isOver()) {
                try {
                    PublishAck unused = jetStream.publish(stream, EVENT);
                } catch (JetStreamApiException e) {
                    throw new IOException("JetStream refused an event", e);
                }
                clock.acknowledged();
            }
        });
    }

    /** Events a second, with so many not yet acknowledged on each connection. */
    double publishAsync(int connections, int inFlight) throws IOException, InterruptedException {
        return run(connections, connections, (jetStream, clock) -> {
            Semaphore free = new Semaphore(inFlight);
            AtomicReference<Throwable> failure = new AtomicReference<>();
            while (!clock.isOver() && failure.get() == null) {
                free.acquire();
                CompletableFuture<PublishAck> unused = jetStream
                        .publishAsync(stream, EVENT)
                        .whenComplete((ack, error) -> {
                            free.release();
                            if (error == null) {
                                clock.acknowledged();
                            } else {
                                failure.set(error);
                            }
                        });
            }
            if (failure.get() != null) {
                throw new IOException("JetStream refused an event", failure.get());
            }
            free.acquire(inFlight);
        });
    }
}
