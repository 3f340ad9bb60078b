package dev.tidemark.loadtest.compare;

import dev.tidemark.loadtest.system.Tidemark;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What to compare, from the command line.
 *
 * @param rounds how often everything is measured; figures are medians over them
 * @param times of one measurement
 * @param jobs what the systems are given to do
 * @param peers which systems, as words
 * @param fsyncs settings of {@code appendfsync} that Tidemark and Redis are measured with
 * @param jar Tidemark
 * @param data directory in which the systems' directories are made
 * @param jvm arguments for Tidemark's JVM
 * @param build directory in which Kafka's class path and the Durable Streams server lie
 * @param results where the results are written, if all of it was measured or {@code --write} was given
 * @param part what is run: {@code comparison}, or another of {@link ResultsFile#PARTS}
 * @param streams how many streams lie on disk when starts are measured
 * @param streamCounts numbers of streams that appends go to; at most 100,000
 * @param sustainedSeconds length of the sustained run into the archive
 * @param events how many events the archive holds at least when it is read
 * @param write whether to write them also of a part
 */
record CompareOptions(
        int rounds,
        Times times,
        Set<Job> jobs,
        List<String> peers,
        List<String> fsyncs,
        Path jar,
        Path data,
        List<String> jvm,
        Path build,
        Path results,
        String part,
        int streams,
        List<Integer> streamCounts,
        int sustainedSeconds,
        int events,
        boolean write) {
    static final List<String> PEERS = List.of("tidemark", "redis", "nats", "durable-streams", "kafka");
    private static final List<String> FSYNCS = List.of("always", "everysec", "no");
    private static final List<String> DEFAULT_FSYNCS = List.of("always", "everysec");

    private static final Map<String, String> DEFAULTS = defaults();

    private static Map<String, String> defaults() {
        Map<String, String> defaults = new LinkedHashMap<>();
        defaults.put("rounds", "3");
        defaults.put("seconds", "5");
        defaults.put("warm-up", "3");
        defaults.put("jobs", Job.words());
        defaults.put("peers", String.join(",", PEERS));
        defaults.put("fsync", String.join(",", DEFAULT_FSYNCS));
        defaults.put("jar", "target/tidemark.jar");
        defaults.put("data", System.getProperty("java.io.tmpdir"));
        defaults.put("jvm", "");
        defaults.put("build", "loadtest/target");
        defaults.put("results", "loadtest/RESULTS.md");
        defaults.put("streams", "1000");
        defaults.put("stream-counts", "1,100,10000");
        defaults.put("sustained", "300");
        defaults.put("events", "10000000");
        return defaults;
    }

    static final String USAGE = """
            loadtest/compare [OPTION VALUE]...

              --rounds 3             everything is measured so often; figures are medians
              --seconds 5            length of a measurement
              --warm-up 3            seconds before it counts
              --jobs LIST            of %s
              --peers LIST           of %s
              --fsync LIST           of always, everysec, no: appendfsync of Tidemark's Redis and of Redis; default always,everysec
              --data DIR             where the systems' directories are made; not on a tmpfs, forces are free there
              --jar FILE             Tidemark; default target/tidemark.jar
              --jvm "ARGUMENTS"      for Tidemark's JVM
              --build DIR            what loadtest/compare has put together for Kafka and Durable Streams; default loadtest/target
              --results FILE         default loadtest/RESULTS.md; written when all jobs and peers were measured
              --write                write it of a part too

            Other runs, each of which writes its own part with --write:
              --start                time to ready with --streams 1000 on disk, and CPU of an idle server
              --archive              fold rate, a sustained run of --sustained 300 seconds, reads of an archive of --events 10000000
              --growth               cost by number of streams (--stream-counts 1,100,10000), size of the archive (up to --events) and number of subscribers
            """.formatted(Job.words(), String.join(",", PEERS));

    /** @throws IllegalArgumentException saying what is wrong with the options */
    static CompareOptions parse(String... arguments) {
        Map<String, String> values = new LinkedHashMap<>(DEFAULTS);
        boolean write = false;
        String part = ResultsFile.COMPARISON;
        for (int i = 0; i < arguments.length; i++) {
            if (arguments[i].equals("--write")) {
                write = true;
                continue;
            }
            if (ResultsFile.PARTS.stream().map("--"::concat).anyMatch(arguments[i]::equals)) {
                part = arguments[i].substring(2);
                continue;
            }
            String name = arguments[i].startsWith("--") ? arguments[i].substring(2) : "";
            if (!values.containsKey(name)) {
                throw new IllegalArgumentException("no option '" + arguments[i] + "'");
            }
            if (++i == arguments.length) {
                throw new IllegalArgumentException("--" + name + " needs a value");
            }
            values.put(name, arguments[i]);
        }
        return of(values, part, write);
    }

    private static CompareOptions of(Map<String, String> values, String part, boolean write) {
        Path jar = Path.of(value(values, "jar")).toAbsolutePath().normalize();
        if (!Files.isRegularFile(jar)) {
            throw new IllegalArgumentException(jar + " isn't there: build the server first");
        }
        return new CompareOptions(
                atLeastOne(values, "rounds"),
                new Times(atLeastOne(values, "warm-up"), atLeastOne(values, "seconds")),
                Job.parse(value(values, "jobs")),
                words(values, "peers", PEERS),
                words(values, "fsync", FSYNCS),
                jar,
                Path.of(value(values, "data")).toAbsolutePath(),
                Arrays.stream(value(values, "jvm").split(" "))
                        .filter(word -> !word.isEmpty())
                        .toList(),
                Path.of(value(values, "build")).toAbsolutePath(),
                Path.of(value(values, "results")),
                part,
                atLeastOne(values, "streams"),
                streamCounts(value(values, "stream-counts")),
                atLeastOne(values, "sustained"),
                atLeastOne(values, "events"),
                write);
    }

    private static List<Integer> streamCounts(String text) {
        if (!text.matches("[1-9]\\d{0,4}(,[1-9]\\d{0,4})*")) {
            throw new IllegalArgumentException("--stream-counts is '" + text + "'; such as 1,100,10000");
        }
        return Arrays.stream(text.split(",")).map(Integer::valueOf).toList();
    }

    private static String value(Map<String, String> values, String name) {
        return values.getOrDefault(name, "");
    }

    private static int atLeastOne(Map<String, String> values, String name) {
        String value = value(values, name);
        if (!value.matches("[1-9]\\d{0,8}")) {
            throw new IllegalArgumentException("--" + name + " is '" + value + "'; it must be a number of at least 1");
        }
        return Integer.parseInt(value);
    }

    private static List<String> words(Map<String, String> values, String name, List<String> allowed) {
        List<String> words =
                Arrays.stream(value(values, name).split(",")).map(String::trim).toList();
        if (!allowed.containsAll(words)) {
            throw new IllegalArgumentException("--" + name + " is " + words + "; allowed are " + allowed);
        }
        return words;
    }

    /** How Tidemark is started where {@code appendfsync} makes no difference: with the first that is wanted. */
    Tidemark.Start server() {
        return server(fsyncs.get(0), Map.of());
    }

    /** How Tidemark is started, with more settings from the environment. */
    Tidemark.Start server(String fsync, Map<String, String> environment) {
        Map<String, String> all = new LinkedHashMap<>(environment);
        all.put("TIDEMARK_REDIS_FSYNC", fsync);
        return new Tidemark.Start(jar, data, jvm, List.of(), all);
    }

    /** Whether nothing was left out. */
    boolean isWhole() {
        return jobs.size() == Job.values().length && peers.containsAll(PEERS) && fsyncs.containsAll(DEFAULT_FSYNCS);
    }
}
