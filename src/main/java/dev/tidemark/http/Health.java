package dev.tidemark.http;

import java.util.List;

/** What health answers are made of. Called on event loops: it only looks at what is known and never waits. */
public interface Health {
    /** All metrics in the text format of Prometheus. */
    default String metrics() {
        return "";
    }

    /** The checks ({@code redis}, {@code fold}, {@code disk}, {@code keepers}), always in the same order. */
    List<Check> checks();

    /** How a check stands. */
    enum Status {
        OK("ok"),
        /** Works, but something is to be known. The server is ready. */
        WARNING("warning"),
        /** The server isn't ready. */
        FAILING("failing");

        private final String text;

        Status(String text) {
            this.text = text;
        }

        public String text() {
            return text;
        }
    }

    /**
     * One named check.
     *
     * @param name lower case
     * @param status as it is now
     * @param detail a sentence; empty if there is nothing to say
     * @param sinceMs since when it has that status, Unix milliseconds
     */
    record Check(String name, Status status, String detail, long sinceMs) {}
}
