package dev.tidemark.cli;

import dev.tidemark.event.Problem;

/** Numbers on the command line. */
final class Counts {
    private Counts() {}

    /** The text, if it is a whole number from 0. */
    static String check(String option, String text) {
        if (!text.matches("\\d{1,18}")) {
            throw CommandFailure.usage(option + ": '" + Problem.quote(text) + "' isn't a whole number from 0");
        }
        return text;
    }
}
