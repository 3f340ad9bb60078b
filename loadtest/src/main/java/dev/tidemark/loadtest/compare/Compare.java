package dev.tidemark.loadtest.compare;

import dev.tidemark.loadtest.system.Machine;
import dev.tidemark.loadtest.system.RedisServer;
import dev.tidemark.loadtest.system.Tidemark;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/** The comparison: each system is started, given the jobs, and stopped, one after the other, in rounds. See README.md. */
public final class Compare {
    private static final int USAGE_EXIT = 2;

    private final CompareOptions options;
    private final Figures figures = new Figures();

    private Compare(CompareOptions options) {
        this.options = options;
    }

    public static void main(String[] arguments) throws IOException, InterruptedException {
        if (List.of(arguments).contains("--help")) {
            System.out.print(CompareOptions.USAGE);
            return;
        }
        try {
            new Compare(CompareOptions.parse(arguments)).run();
        } catch (IllegalArgumentException e) {
            System.err.println(e.getMessage() + "\n\n" + CompareOptions.USAGE);
            System.exit(USAGE_EXIT);
        }
    }

    private void run() throws IOException, InterruptedException {
        System.out.println(Machine.description(options.data()));
        for (int round = 1; round <= options.rounds(); round++) {
            List<Turn.Contender> order = new ArrayList<>(contenders());
            if (round % 2 == 0) {
                Collections.reverse(order);
            }
            for (Turn.Contender contender : order) {
                System.out.println("round " + round + " of " + options.rounds() + ": " + contender.system());
                take(contender);
            }
        }
    }

    private void take(Turn.Contender contender) throws IOException, InterruptedException {
        try (Turn turn = contender.start().start()) {
            try {
                for (Job job : Job.values()) {
                    if (options.jobs().contains(job) && contender.jobs().contains(job)) {
                        turn.run(job, figures);
                    }
                }
            } catch (IOException e) {
                System.err.println(
                        "failed; the last lines of the log of " + contender.system() + ":\n" + turn.logEnd());
                throw e;
            }
        }
    }

    private List<Turn.Contender> contenders() {
        List<Turn.Contender> contenders = new ArrayList<>();
        for (String fsync : options.fsyncs()) {
            contenders.add(tidemark(fsync));
            contenders.add(redis(fsync));
        }
        return contenders.stream()
                .filter(each -> options.peers().contains(each.word()))
                .filter(each -> each.jobs().stream().anyMatch(options.jobs()::contains))
                .toList();
    }

    private Turn.Contender tidemark(String fsync) {
        Tidemark.Start start = new Tidemark.Start(
                options.jar(), options.data(), options.jvm(), List.of(), Map.of("TIDEMARK_REDIS_FSYNC", fsync));
        return new Turn.Contender(
                "tidemark",
                "Tidemark",
                fsync,
                TidemarkTurn.JOBS,
                "",
                () -> new TidemarkTurn(Tidemark.start(start), fsync, options.times()));
    }

    private Turn.Contender redis(String fsync) {
        return new Turn.Contender(
                "redis",
                "Redis",
                fsync,
                RedisTurn.JOBS,
                "",
                () -> new RedisTurn(RedisServer.start(options.jar(), options.data(), fsync), fsync, options.times()));
    }
}
