package dev.tidemark.loadtest;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.OptionalDouble;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Redis's own load generator, if this machine has it. */
final class RedisBenchmark {
    private static final Pattern RATE = Pattern.compile("([0-9.]+) requests per second");
    private static final int REQUESTS = 500_000;

    private RedisBenchmark() {}

    /** XADD a second of one event of {@link Payloads#BYTES} each, 4 connections, 64 in a pipeline; empty without the program. */
    static OptionalDouble xadd(int port, String key) throws IOException, InterruptedException {
        Process process;
        try {
            process = new ProcessBuilder(
                            "redis-benchmark",
                            "-h",
                            "127.0.0.1",
                            "-p",
                            String.valueOf(port),
                            "-c",
                            "4",
                            "-P",
                            "64",
                            "-n",
                            String.valueOf(REQUESTS),
                            "-q",
                            "XADD",
                            key,
                            "*",
                            "data",
                            Payloads.event(0))
                    .redirectErrorStream(true)
                    .start();
        } catch (IOException e) {
            return OptionalDouble.empty();
        }
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        int status = process.waitFor();
        Matcher matcher = RATE.matcher(output);
        OptionalDouble rate = OptionalDouble.empty();
        while (matcher.find()) {
            rate = OptionalDouble.of(Double.parseDouble(matcher.group(1)));
        }
        if (status != 0 || rate.isEmpty()) {
            throw new IOException("redis-benchmark ended with " + status + ": " + output);
        }
        return rate;
    }
}
