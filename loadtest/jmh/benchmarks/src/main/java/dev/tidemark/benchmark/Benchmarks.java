package dev.tidemark.benchmark;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.results.format.ResultFormatType;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

/** Runs the benchmarks that {@code -Dbenchmark} picks and prints a table of them. See README.md for the other properties. */
public final class Benchmarks {
    private Benchmarks() {}

    public static void main(String[] arguments) throws RunnerException {
        Path results = Path.of(System.getProperty("results", "target"));
        Path log = results.resolve("jmh.txt");
        System.out.println("running; " + log + " tells how far it is");
        TimeValue time = TimeValue.seconds(Integer.getInteger("seconds", 1));
        ChainedOptionsBuilder options = new OptionsBuilder()
                .include(System.getProperty("benchmark", ".*"))
                .forks(Integer.getInteger("forks", 1))
                .warmupIterations(Integer.getInteger("warmups", 3))
                .warmupTime(time)
                .measurementIterations(Integer.getInteger("iterations", 5))
                .measurementTime(time)
                .jvmArgsAppend("-Djmh.executor=CUSTOM", "-Djmh.executor.class=" + EventLoopThreads.class.getName())
                .shouldFailOnError(true)
                .output(log.toString())
                .resultFormat(ResultFormatType.JSON)
                .result(results.resolve("jmh.json").toString());
        addProfilers(options);
        addParameters(options);
        Collection<RunResult> all = new Runner(options.build()).run();
        new Table(all).print();
    }

    private static void addProfilers(ChainedOptionsBuilder options) {
        for (String profiler : words("profilers", "gc", ";")) {
            int colon = profiler.indexOf(':');
            if (colon < 0) {
                options = options.addProfiler(profiler);
            } else {
                options = options.addProfiler(profiler.substring(0, colon), profiler.substring(colon + 1));
            }
        }
    }

    private static void addParameters(ChainedOptionsBuilder options) {
        for (String parameter : words("parameters", "", ";")) {
            String[] nameAndValues = parameter.split("=", 2);
            if (nameAndValues.length != 2) {
                throw new IllegalArgumentException("parameters: '" + parameter + "'; allowed is name=value,value;...");
            }
            options = options.param(nameAndValues[0], nameAndValues[1].split(",", -1));
        }
    }

    private static List<String> words(String property, String otherwise, String separator) {
        return Arrays.stream(System.getProperty(property, otherwise).split(separator, -1))
                .map(String::trim)
                .filter(word -> !word.isEmpty())
                .toList();
    }
}
