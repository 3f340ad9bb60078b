package dev.tidemark.loadtest.compare;

import dev.tidemark.loadtest.RedisBenchmark;
import dev.tidemark.loadtest.system.Machine;
import java.io.IOException;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** The comparison: each system is started, given the jobs, and stopped, one after the other, in rounds. See README.md. */
public final class Compare {
    private static final int FAILED_EXIT = 1;
    private static final int USAGE_EXIT = 2;

    private final CompareOptions options;
    private final Figures figures = new Figures();
    private final ComparisonText text = new ComparisonText(figures);

    /** Systems that failed in a turn. */
    private final Set<String> failures = new TreeSet<>();

    private Compare(CompareOptions options) {
        this.options = options;
    }

    public static void main(String[] arguments) throws InterruptedException {
        if (List.of(arguments).contains("--help")) {
            System.out.print(CompareOptions.USAGE);
            return;
        }
        try {
            new Compare(CompareOptions.parse(arguments))
                    .run(("loadtest/compare " + String.join(" ", arguments)).trim());
        } catch (IllegalArgumentException e) {
            System.err.println(e.getMessage() + "\n\n" + CompareOptions.USAGE);
            System.exit(USAGE_EXIT);
        } catch (IOException e) {
            System.err.println(e.getMessage());
            System.exit(FAILED_EXIT);
        }
    }

    private void run(String command) throws IOException, InterruptedException {
        String machine = Machine.description(options.data());
        System.out.println(machine);
        String today = LocalDate.now(ZoneId.systemDefault()).toString();
        String head = today + ", " + machine + ", appendfsync "
                + options.fsyncs().get(0) + ". Server and driver share the machine.\n\n```\n" + command + "\n```\n";
        switch (options.part()) {
            case "start" -> finish(new StartRun(options).run("## Start and rest\n\n" + head));
            case "archive" -> finish(new ArchiveRun(options).run("## Archive\n\n" + head));
            case "growth" -> finish(new GrowthRun(options).run("## Growth\n\n" + head));
            default -> {
                compare();
                System.out.println("\n" + text.bars(options.fsyncs()));
                if (options.write() || (options.isWhole() && failures.isEmpty())) {
                    write(text.markdown(today, machine, command, options));
                }
                if (!failures.isEmpty()) {
                    throw new IOException("failed: " + failures);
                }
            }
        }
    }

    /** Prints a part, and writes it if that is wanted. */
    private void finish(String part) throws IOException {
        System.out.println("\n" + part);
        if (options.write()) {
            write(part);
        }
    }

    private void write(String part) throws IOException {
        new ResultsFile(options.results()).write(options.part(), part);
        System.out.println("written: " + options.results());
    }

    private void compare() throws IOException, InterruptedException {
        List<Turn.Contender> contenders = new ArrayList<>();
        for (Turn.Contender contender : new Contenders(options).wanted()) {
            if (contender.missing().isEmpty()) {
                contenders.add(contender);
            } else {
                leaveOut(contender.system(), contender.missing());
            }
        }
        if (options.peers().contains("redis") && !RedisBenchmark.isHere()) {
            leaveOut(
                    Side.REDIS_BENCHMARK.title(),
                    "no redis-benchmark on the PATH (Debian: apt-get install redis-tools)");
        }
        for (int round = 1; round <= options.rounds(); round++) {
            for (Turn.Contender contender : contenders) {
                System.out.println("round " + round + " of " + options.rounds() + ": " + contender.system());
                take(contender);
            }
            Collections.reverse(contenders);
        }
    }

    private void leaveOut(String system, String why) {
        System.out.println("left out: " + system + ": " + why);
        text.leftOut(system, why);
    }

    /** Gives a system its turn. What fails ends the turn and is told with the results; the others go on. */
    private void take(Turn.Contender contender) throws InterruptedException {
        try (Turn turn = contender.start().start()) {
            text.ran(contender.system(), turn.version(), turn.durability());
            for (Job job : Job.values()) {
                if (options.jobs().contains(job) && contender.jobs().contains(job)) {
                    run(contender, turn, job);
                }
            }
        } catch (IOException e) {
            failures.add(contender.system());
            String why = String.valueOf(e.getMessage());
            System.err.println("failed: " + contender.system() + ": " + why);
            text.leftOut(
                    contender.system(), "failed: " + why.lines().findFirst().orElse(""));
        }
    }

    private void run(Turn.Contender contender, Turn turn, Job job) throws IOException, InterruptedException {
        try {
            turn.run(job, figures);
        } catch (IOException e) {
            System.err.println("the last lines of the log of " + contender.system() + ":\n" + turn.logEnd());
            throw new IOException(job.word() + ": " + e.getMessage(), e);
        }
    }
}
