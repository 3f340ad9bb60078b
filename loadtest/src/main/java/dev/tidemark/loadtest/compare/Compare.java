package dev.tidemark.loadtest.compare;

import dev.tidemark.loadtest.system.Machine;
import java.io.IOException;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** The comparison: each system is started, given the jobs, and stopped, one after the other, in rounds. See README.md. */
public final class Compare {
    private static final int USAGE_EXIT = 2;

    private final CompareOptions options;
    private final Figures figures = new Figures();
    private final ComparisonText text = new ComparisonText(figures);

    private Compare(CompareOptions options) {
        this.options = options;
    }

    public static void main(String[] arguments) throws IOException, InterruptedException {
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
                if (options.write() || options.isWhole()) {
                    write(text.markdown(today, machine, command, options));
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
                System.out.println("left out: " + contender.system() + ": " + contender.missing());
                text.leftOut(contender.system(), contender.missing());
            }
        }
        for (int round = 1; round <= options.rounds(); round++) {
            for (Turn.Contender contender : contenders) {
                System.out.println("round " + round + " of " + options.rounds() + ": " + contender.system());
                take(contender);
            }
            Collections.reverse(contenders);
        }
    }

    private void take(Turn.Contender contender) throws IOException, InterruptedException {
        try (Turn turn = contender.start().start()) {
            text.ran(contender.system(), turn.version(), turn.durability());
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
}
