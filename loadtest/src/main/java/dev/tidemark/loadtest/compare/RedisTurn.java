package dev.tidemark.loadtest.compare;

import dev.tidemark.loadtest.Payloads;
import dev.tidemark.loadtest.Redis;
import dev.tidemark.loadtest.RedisBenchmark;
import dev.tidemark.loadtest.driver.ClosedLoop;
import dev.tidemark.loadtest.driver.RespAnswers;
import dev.tidemark.loadtest.system.RedisServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** Redis Streams without anything before it: by redis-benchmark, and by the driver that Tidemark is measured with. */
final class RedisTurn implements Turn {
    static final Set<Job> JOBS = EnumSet.of(Job.APPEND_BATCHES, Job.APPEND_SINGLE, Job.TAIL);

    private static final String KEY = "compare";
    private static final int BATCH = 500;
    private static final int BATCH_CONNECTIONS = 4;
    private static final int BATCH_PIPELINE = 64;
    private static final int SINGLE_CONNECTIONS = 64;
    private static final int TAIL_CONNECTIONS = 16;
    private static final int TAILED_EVENTS = 1_000;

    private final RedisServer server;
    private final String fsync;
    private final Times times;

    RedisTurn(RedisServer server, String fsync, Times times) {
        this.server = server;
        this.fsync = fsync;
        this.times = times;
    }

    @Override
    public String version() throws IOException {
        return RedisServer.version(server.port());
    }

    @Override
    public String durability() throws IOException {
        return "appendonly " + RedisServer.setting(server.port(), "appendonly") + ", appendfsync "
                + RedisServer.setting(server.port(), "appendfsync");
    }

    @Override
    public void run(Job job, Figures figures) throws IOException, InterruptedException {
        switch (job) {
            case APPEND_BATCHES -> {
                benchmark(figures, Measure.APPEND_BATCHES, BATCH_CONNECTIONS, BATCH_PIPELINE, xadd(0));
                driver(figures, Measure.APPEND_BATCHES, BATCH_CONNECTIONS, xadds(BATCH), BATCH, "XADD");
            }
            case APPEND_SINGLE -> {
                benchmark(figures, Measure.APPEND_SINGLE, SINGLE_CONNECTIONS, 1, xadd(0));
                driver(figures, Measure.APPEND_SINGLE, SINGLE_CONNECTIONS, xadds(1), 1, "XADD");
            }
            case TAIL -> tail(figures);
            default -> throw new IllegalArgumentException("Redis has no " + job.word());
        }
    }

    private void tail(Figures figures) throws IOException, InterruptedException {
        for (int n : new int[] {10, 100}) {
            Measure measure = n == 10 ? Measure.TAIL_10 : Measure.TAIL_100;
            List<String> command = List.of("XREVRANGE", KEY, "+", "-", "COUNT", String.valueOf(n));
            try (Redis redis = new Redis(server.port())) {
                Object unused = redis.send(xadds(TAILED_EVENTS), TAILED_EVENTS);
            }
            if (RedisBenchmark.isHere()) {
                double rate = RedisBenchmark.perSecond(server.port(), TAIL_CONNECTIONS, 1, times.seconds(), command);
                figures.add(
                        key(measure, Side.REDIS_BENCHMARK), "-P 1 -c " + TAIL_CONNECTIONS + " XREVRANGE COUNT n", rate);
            }
            driver(
                    figures,
                    measure,
                    TAIL_CONNECTIONS,
                    Redis.command(command.toArray(String[]::new)),
                    1,
                    "XREVRANGE COUNT n");
        }
    }

    private Figures.Key key(Measure measure, Side side) {
        return new Figures.Key(measure, side, fsync);
    }

    private static List<String> xadd(int number) {
        return List.of("XADD", KEY, "*", "data", Payloads.event(number));
    }

    private static byte[] xadds(int count) {
        ByteArrayOutputStream commands = new ByteArrayOutputStream();
        for (int i = 0; i < count; i++) {
            commands.writeBytes(Redis.command(xadd(i).toArray(String[]::new)));
        }
        return commands.toByteArray();
    }

    private void benchmark(Figures figures, Measure measure, int connections, int pipeline, List<String> command)
            throws IOException, InterruptedException {
        if (RedisBenchmark.isHere()) {
            double rate = RedisBenchmark.perSecond(server.port(), connections, pipeline, times.seconds(), command);
            figures.add(
                    key(measure, Side.REDIS_BENCHMARK),
                    "-P " + pipeline + " -c " + connections + " " + command.get(0),
                    rate);
        }
        removeKey();
    }

    /** Our own driver: several commands are sent as one, and sent again when all of them are answered. */
    private void driver(Figures figures, Measure measure, int connections, byte[] commands, int count, String what)
            throws IOException, InterruptedException {
        ClosedLoop loop =
                new ClosedLoop(server.port(), ClosedLoop.Request.of(commands, count, count), RespAnswers::new);
        double rate = loop.run(connections, Times.SHORT_WARM_UP_SECONDS, times.seconds())
                .perSecond();
        figures.add(
                key(measure, Side.REDIS_DRIVER),
                "closed loop, " + connections + " connections, "
                        + (count > 1 ? count + " " + what + " in flight" : what),
                rate);
        removeKey();
    }

    private void removeKey() throws IOException, InterruptedException {
        try (Redis redis = new Redis(server.port())) {
            Object unused = redis.call("UNLINK", KEY);
        }
        RedisServer.awaitQuiet(server.port());
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
