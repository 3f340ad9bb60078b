package dev.tidemark.loadtest.compare;

import dev.tidemark.loadtest.Payloads;
import dev.tidemark.loadtest.system.KafkaServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Kafka, one node, one partition, loaded by its own ProducerPerformance in a JVM of its own. */
final class KafkaTurn implements Turn {
    static final Set<Job> JOBS = EnumSet.of(Job.APPEND_BATCHES);

    private static final String PRODUCER = "org.apache.kafka.tools.ProducerPerformance";
    private static final Pattern SUMMARY = Pattern.compile("(\\d+) records sent, ([0-9.]+) records/sec");
    private static final int FIRST_RECORDS = 200_000;
    private static final String METHOD =
            "ProducerPerformance, acks=all, batches of up to 128 KiB (about 500 events), 1 partition";

    private final KafkaServer server;
    private final Times times;

    KafkaTurn(KafkaServer server, Times times) {
        this.server = server;
        this.times = times;
    }

    @Override
    public String version() {
        return server.version();
    }

    @Override
    public String durability() {
        return "acks=all of one node; in the page cache, the kernel decides when it is forced (Kafka's default)";
    }

    @Override
    public void run(Job job, Figures figures) throws IOException, InterruptedException {
        Path payload = Files.writeString(server.directory().resolve("payload.txt"), Payloads.event(0) + "\n");
        double first = produce(payload, FIRST_RECORDS, 0);
        long warmUp = (long) (first * times.warmUpSeconds());
        double rate = produce(payload, warmUp + (long) (first * times.seconds()), warmUp);
        figures.add(new Figures.Key(Measure.APPEND_BATCHES, Side.KAFKA, ""), METHOD, rate);
    }

    private double produce(Path payload, long records, long warmUp) throws IOException, InterruptedException {
        List<String> arguments = new ArrayList<>(List.of("--bootstrap-server", "127.0.0.1:" + server.port()));
        arguments.addAll(List.of("--topic", "compare", "--num-records", String.valueOf(records)));
        arguments.addAll(List.of("--throughput", "-1", "--payload-file", payload.toString()));
        arguments.addAll(List.of("--command-property", "acks=all", "batch.size=131072"));
        if (warmUp > 0) {
            arguments.addAll(List.of("--warmup-records", String.valueOf(warmUp)));
        }
        String output = server.tool(PRODUCER, arguments.toArray(String[]::new));
        return rate(output).orElseThrow(() -> new IOException("ProducerPerformance told no rate: " + output));
    }

    /** The rate in the last summary that it printed: of the records after the warm-up, if there was one. */
    static OptionalDouble rate(String output) {
        Matcher matcher = SUMMARY.matcher(output);
        OptionalDouble rate = OptionalDouble.empty();
        while (matcher.find()) {
            rate = OptionalDouble.of(Double.parseDouble(matcher.group(2)));
        }
        return rate;
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
