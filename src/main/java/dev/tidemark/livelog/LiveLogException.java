package dev.tidemark.livelog;

import org.jspecify.annotations.Nullable;

/** A command that Redis refused, or whose outcome isn't known. */
public final class LiveLogException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** What is known of the command, and whether the same one may succeed later. */
    public enum Kind {
        /** It never left: there is no connection, or too much in flight on it. */
        NOT_SENT(true, true),
        /** It may or may not have been executed: the connection broke, or no answer came in time. */
        UNKNOWN(false, true),
        /** Redis is over its memory limit. */
        OUT_OF_MEMORY(true, true),
        /** Redis can't do it now (LOADING, READONLY, MISCONF, BUSY, CLUSTERDOWN, TRYAGAIN, MASTERDOWN and the like). */
        NOT_NOW(true, true),
        /** The stream has a higher id already: something else wrote, or a fence stands in the way. */
        ID_TOO_LOW(true, true),
        /** The key isn't there. */
        KEY_MISSING(true, true),
        /** Redis will never do it as things are (WRONGTYPE, NOAUTH, NOPERM, MOVED, CROSSSLOT, unknown command and the like). */
        REFUSED(true, false);

        private final boolean notExecuted;
        private final boolean retryable;

        Kind(boolean notExecuted, boolean retryable) {
            this.notExecuted = notExecuted;
            this.retryable = retryable;
        }

        /** Whether Redis itself said so. */
        public boolean isAnswer() {
            return this != NOT_SENT && this != UNKNOWN;
        }

        /** Whether it is certain that nothing was written. */
        public boolean notExecuted() {
            return notExecuted;
        }

        public boolean retryable() {
            return retryable;
        }
    }

    private final Kind kind;

    public LiveLogException(Kind kind, String message) {
        this(kind, message, null);
    }

    public LiveLogException(Kind kind, String message, @Nullable Throwable cause) {
        super(message, cause, false, false);
        this.kind = kind;
    }

    public Kind kind() {
        return kind;
    }
}
