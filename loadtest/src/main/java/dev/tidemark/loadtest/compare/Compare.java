package dev.tidemark.loadtest.compare;

import dev.tidemark.loadtest.system.Machine;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

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
        List<Turn.Contender> wanted = new Contenders(options).wanted();
        wanted.stream()
                .filter(each -> !each.missing().isEmpty())
                .forEach(each -> System.out.println("left out: " + each.system() + ": " + each.missing()));
        List<Turn.Contender> contenders =
                wanted.stream().filter(each -> each.missing().isEmpty()).toList();
        for (int round = 1; round <= options.rounds(); round++) {
            List<Turn.Contender> order = new ArrayList<>(contenders);
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
}
