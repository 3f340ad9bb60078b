package dev.tidemark.loadtest.compare;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/** A kind of work that systems are given, each alone. */
enum Job {
    APPEND_BATCHES,
    APPEND_SINGLE,
    TAIL,
    TAIL_LATENCY,
    SUBSCRIBE,
    FAN_OUT,
    DEEP_TAILS;

    /** As it is written in the command's options, such as {@code append-batches}. */
    String word() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    static String words() {
        return Arrays.stream(values()).map(Job::word).collect(Collectors.joining(","));
    }

    /** @throws IllegalArgumentException naming what is allowed */
    static Set<Job> parse(String words) {
        Set<Job> jobs = EnumSet.noneOf(Job.class);
        for (String word : words.split(",", -1)) {
            jobs.add(Arrays.stream(values())
                    .filter(job -> job.word().equals(word.trim()))
                    .findFirst()
                    .orElseThrow(() -> new IllegalArgumentException("no job '" + word + "'; there are " + words())));
        }
        return jobs;
    }
}
