package dev.tidemark.loadtest;

import dev.tidemark.loadtest.system.Machine;
import dev.tidemark.loadtest.system.RedisServer;
import dev.tidemark.loadtest.system.Tidemark;
import java.io.IOException;

/**
 * The load test: starts a server with its own Redis, measures both side by side in rounds, prints medians with the method beside
 * them, and stops everything it started. See README.md.
 */
public final class LoadTest {
    private LoadTest() {}

    public static void main(String[] arguments) throws IOException, InterruptedException {
        Options options = Options.ofSystem();
        Report report = new Report();
        try (Tidemark server = Tidemark.start(options.server())) {
            try {
                measure(options, server, report);
            } catch (IOException e) {
                System.err.println("failed; the last lines of the server's log:\n" + server.logEnd());
                throw e;
            }
        }
        report.print();
        report.printRatio(Jobs.APPEND, Jobs.RAW_XADD);
        report.printRatio(Jobs.APPEND, Jobs.REDIS_BENCHMARK);
    }

    private static void measure(Options options, Tidemark server, Report report)
            throws IOException, InterruptedException {
        int redisPort = server.redisPort();
        printMethod(options, server, redisPort);
        Jobs.createStream(server);
        System.out.println("warm-up round (not counted)");
        runRound(options, new Jobs(options, server.port(), redisPort, new Report()));
        Jobs jobs = new Jobs(options, server.port(), redisPort, report);
        for (int round = 1; round <= options.rounds(); round++) {
            System.out.println("round " + round + " of " + options.rounds());
            runRound(options, jobs);
        }
    }

    private static void runRound(Options options, Jobs jobs) throws IOException, InterruptedException {
        if (options.jobs().contains("append")) {
            jobs.append();
        }
        if (options.jobs().contains("tail")) {
            jobs.tail();
        }
        if (options.jobs().contains("subscribe")) {
            jobs.subscribe();
        }
    }

    private static void printMethod(Options options, Tidemark server, int redisPort) throws IOException {
        System.out.println("Tidemark load test: one server, its own Redis and this driver share the machine");
        System.out.println("  machine     " + Machine.processor() + ", "
                + Runtime.getRuntime().availableProcessors()
                + " processors, " + System.getProperty("os.name") + " " + System.getProperty("os.version") + ", Java "
                + System.getProperty("java.version") + ", data on " + server.fileSystem());
        System.out.println("  Redis       " + RedisServer.version(redisPort) + ", appendonly "
                + RedisServer.setting(redisPort, "appendonly") + ", appendfsync "
                + RedisServer.setting(redisPort, "appendfsync")
                + " (the same Redis on both sides of every comparison)");
        System.out.println("  stream      live_max_events=1000: fold and trim run all the time");
        System.out.println(
                "  append      closed loop, 4 connections, 256 B of JSON; NDJSON batches of 500 against 500 pipelined XADD");
        System.out.println(
                "  tail        open loop, 500/s over 4 connections, 2,000 events/s (batches of 20) going in beside it");
        System.out.println(
                "  subscribe   open loop, 5,000 events/s, one a request, 16 connections; 1 WebSocket subscriber, one frame an event");
        System.out.println("  time        " + options.rounds() + " rounds after one of warm-up, " + options.seconds()
                + " s each after 1 s of warm-up; latencies from when a request was due (no coordinated omission)");
    }
}
