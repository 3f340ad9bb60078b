package dev.tidemark.keeper;

import dev.tidemark.event.Problem;
import dev.tidemark.event.Problem.Stored;
import dev.tidemark.livelog.LiveLogException;

/** What clients are told when the live log refuses, or can't be reached. Pure. */
final class LiveLogRefusals {
    private LiveLogRefusals() {}

    /** Redis has refused, or an answer of it is missing. */
    static Problem refused(LiveLogException failure) {
        String detail = "the live log refused: " + failure.getMessage();
        return failure.kind().retryable()
                ? Problem.unavailable(failure.kind().notExecuted() ? Stored.NO : Stored.UNKNOWN, detail)
                        .causedBy(failure)
                : new Problem(Problem.Kind.INTERNAL, detail)
                        .with("stored", Stored.NO.text())
                        .causedBy(failure);
    }

    /** A stripe can't be opened. */
    static RuntimeException notOpened(Throwable cause) {
        if (cause instanceof Problem known) {
            return known;
        }
        return cause instanceof LiveLogException refusal
                ? refused(refusal)
                : Problem.unavailable(Stored.NO, "the stream can't be opened: " + cause.getMessage())
                        .causedBy(cause);
    }

    /**
     * A stripe has been parted for too long.
     *
     * @param why what is in the way; empty if that isn't known
     */
    static Problem outOfReach(Stored stored, String why) {
        return Problem.unavailable(stored, "the live log can't be reached" + (why.isEmpty() ? "" : ": " + why));
    }
}
