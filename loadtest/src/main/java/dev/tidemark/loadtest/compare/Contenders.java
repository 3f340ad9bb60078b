package dev.tidemark.loadtest.compare;

import dev.tidemark.loadtest.compare.Turn.Contender;
import dev.tidemark.loadtest.system.DurableStreamsServer;
import dev.tidemark.loadtest.system.KafkaServer;
import dev.tidemark.loadtest.system.NatsServer;
import dev.tidemark.loadtest.system.RedisServer;
import dev.tidemark.loadtest.system.Tidemark;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The systems that can be compared. */
record Contenders(CompareOptions options) {
    /** Those that the options ask for and that have something to do; some may miss what they need. */
    List<Contender> wanted() {
        List<Contender> all = new ArrayList<>();
        for (String fsync : options.fsyncs()) {
            all.add(tidemark(fsync));
            all.add(redis(fsync));
        }
        all.add(nats());
        all.add(durableStreams());
        all.add(kafka());
        return all.stream()
                .filter(each -> options.peers().contains(each.word()))
                .filter(each -> each.jobs().stream().anyMatch(options.jobs()::contains))
                .toList();
    }

    private Contender tidemark(String fsync) {
        Tidemark.Start start = options.server(fsync, Map.of());
        return new Contender(
                "tidemark",
                "Tidemark",
                fsync,
                TidemarkTurn.JOBS,
                "",
                () -> new TidemarkTurn(Tidemark.start(start), fsync, options.times()));
    }

    private Contender redis(String fsync) {
        return new Contender(
                "redis",
                "Redis",
                fsync,
                RedisTurn.JOBS,
                "",
                () -> new RedisTurn(RedisServer.start(options.jar(), options.data(), fsync), fsync, options.times()));
    }

    private Contender nats() {
        return new Contender(
                "nats",
                "NATS JetStream",
                "",
                NatsTurn.JOBS,
                NatsServer.missing(),
                () -> new NatsTurn(NatsServer.start(options.data()), options.times()));
    }

    private Contender durableStreams() {
        Path installed = options.build().resolve("durable-streams");
        return new Contender(
                "durable-streams",
                "Durable Streams (Node)",
                "",
                DurableStreamsTurn.JOBS,
                DurableStreamsServer.missing(installed),
                () -> new DurableStreamsTurn(
                        DurableStreamsServer.start(installed, options.data()), installed, options.times()));
    }

    private Contender kafka() {
        Path classPath = options.build().resolve("kafka-classpath.txt");
        return new Contender(
                "kafka",
                "Kafka",
                "",
                KafkaTurn.JOBS,
                KafkaServer.missing(classPath),
                () -> new KafkaTurn(KafkaServer.start(classPath, options.data()), options.times()));
    }
}
