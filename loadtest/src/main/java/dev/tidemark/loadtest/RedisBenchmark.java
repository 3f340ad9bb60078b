package dev.tidemark.loadtest;

import dev.tidemark.loadtest.system.Programs;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Redis's own load generator, if this machine has it. */
public final class RedisBenchmark {
    private static final String PROGRAM = "redis-benchmark";
    private static final Pattern RATE = Pattern.compile("([0-9.]+) requests per second");
    private static final int REQUESTS = 500_000;
    /** How many requests tell the rate well enough to choose how many to send. */
    private static final int FIRST_REQUESTS = 50_000;

    private RedisBenchmark() {}

    public static boolean isHere() {
        return Programs.find(PROGRAM).isPresent();
    }

    /** XADD a second of one event of {@link Payloads#BYTES} each, 4 connections, 64 in a pipeline; empty without the program. */
    static OptionalDouble xadd(int port, String key) throws IOException, InterruptedException {
        return isHere()
                ? OptionalDouble.of(run(port, 4, 64, REQUESTS, List.of("XADD", key, "*", "data", Payloads.event(0))))
                : OptionalDouble.empty();
    }

    /** Requests a second, over about the given time, after a shorter run that tells how many requests that takes. */
    public static double perSecond(int port, int connections, int pipeline, double seconds, List<String> command)
            throws IOException, InterruptedException {
        double first = run(port, connections, pipeline, FIRST_REQUESTS, command);
        return run(port, connections, pipeline, Math.max(FIRST_REQUESTS, (long) (first * seconds)), command);
    }

    private static double run(int port, int connections, int pipeline, long requests, List<String> command)
            throws IOException, InterruptedException {
        List<String> words = new ArrayList<>(List.of(PROGRAM, "-h", "127.0.0.1", "-p", String.valueOf(port)));
        words.addAll(List.of("-c", String.valueOf(connections), "-P", String.valueOf(pipeline)));
        words.addAll(List.of("-n", String.valueOf(requests), "-q"));
        words.addAll(command);
        String output = Programs.output(words);
        OptionalDouble rate = rate(output);
        if (rate.isEmpty()) {
            throw new IOException(PROGRAM + " told no rate: " + output);
        }
        return rate.getAsDouble();
    }

    /** The last rate in what it printed; before it come those of the moment. */
    static OptionalDouble rate(String output) {
        Matcher matcher = RATE.matcher(output);
        OptionalDouble rate = OptionalDouble.empty();
        while (matcher.find()) {
            rate = OptionalDouble.of(Double.parseDouble(matcher.group(1)));
        }
        return rate;
    }
}
