package dev.tidemark.loadtest.compare;

import java.io.IOException;
import java.util.Set;

/** A system that runs now, alone on the machine, and is stopped when its turn is over. One thread. */
interface Turn extends AutoCloseable {
    /** Version of the system. */
    String version() throws IOException, InterruptedException;

    /** What it has done with an event when it acknowledges it. */
    String durability() throws IOException;

    /** Does one job and notes its figures. */
    void run(Job job, Figures figures) throws IOException, InterruptedException;

    /** The last lines of what the system printed, for when a job failed. */
    String logEnd() throws IOException;

    @Override
    void close() throws IOException;

    /** Starts a system for its turn. */
    interface Start {
        Turn start() throws IOException, InterruptedException;
    }

    /**
     * A system that can have turns.
     *
     * @param word as in the command's options
     * @param fsync {@code appendfsync} of its Redis; empty where there is none
     * @param jobs what it can do
     * @param missing what isn't here, and how to install it; empty if all is here
     */
    record Contender(String word, String title, String fsync, Set<Job> jobs, String missing, Start start) {
        String system() {
            return fsync.isEmpty() ? title : title + ", " + fsync;
        }
    }
}
