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
        System.out.println("\n" + text.bars(options.fsyncs()));
        if (options.write() || options.isWhole()) {
            String today = LocalDate.now(ZoneId.systemDefault()).toString();
            new ResultsFile(options.results()).write("comparison", text.markdown(today, machine, command, options));
            System.out.println("written: " + options.results());
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
