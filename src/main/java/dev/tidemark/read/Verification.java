package dev.tidemark.read;

import dev.tidemark.event.CheckProgress;
import dev.tidemark.event.Finding;
import io.vertx.core.Future;
import java.util.List;

/** The check of a stream under way, pulled step by step: nobody works on it who isn't asked for the next step. */
public interface Verification {
    /**
     * A step of it.
     *
     * @param findings what was found since the step before
     * @param end whether that was all
     * @param archive figures of the archive's check so far; its findings are those of the step
     * @param compared events so far that stand in live log and archive and were compared
     */
    record Step(List<Finding> findings, boolean end, CheckProgress archive, long compared) {
        public Step {
            findings = List.copyOf(findings);
        }
    }

    /** The next step, some tenths of a second away; not called again before it completed, nor after the last. */
    Future<Step> next();

    /** Ends it before its end. */
    void stop();
}
