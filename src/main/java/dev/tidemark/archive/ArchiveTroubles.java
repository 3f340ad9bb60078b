package dev.tidemark.archive;

import dev.tidemark.event.StreamId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Files of archives that are missing or damaged, as far as they have been come upon: by a start, a look at the folders, a read or a
 * check. What such a file held is announced to readers as a gap; this is for whoever looks after the disk. Any thread.
 */
public final class ArchiveTroubles {
    /** So many are remembered; the log has all of them. */
    private static final int REMEMBERED_MAX = 1_000;

    private static final Logger LOG = LoggerFactory.getLogger(ArchiveTroubles.class);

    /**
     * One file.
     *
     * @param file its name
     * @param what is wrong with it
     * @param byLook whether a look at the folder found it, which sees it when the file is there again
     */
    public record Trouble(StreamId stream, String file, String what, boolean byLook) {
        @Override
        public String toString() {
            return stream.name() + " " + file + ": " + what;
        }
    }

    /** By stream and file. */
    private final Map<StreamId, Map<String, Trouble>> troubles = new ConcurrentHashMap<>();

    /** All that is known, in the order of streams as they were come upon. */
    public List<Trouble> all() {
        List<Trouble> all = new ArrayList<>();
        troubles.values().forEach(ofStream -> all.addAll(ofStream.values()));
        return all;
    }

    /** Whether nothing is known to be wrong. */
    public boolean isEmpty() {
        return troubles.isEmpty();
    }

    void add(StreamId stream, String file, String what) {
        add(stream, file, what, false);
    }

    private void add(StreamId stream, String file, String what, boolean byLook) {
        Map<String, Trouble> known = troubles.get(stream);
        if ((known != null && known.containsKey(file)) || isFull()) {
            return;
        }
        Trouble trouble = new Trouble(stream, file, what, byLook);
        Trouble before = troubles.computeIfAbsent(stream, id -> new ConcurrentSkipListMap<>())
                .putIfAbsent(file, trouble);
        if (before == null) {
            LOG.warn("archive of {}: {} {}", stream, file, what);
        }
    }

    private boolean isFull() {
        int count = 0;
        for (Map<String, Trouble> ofStream : troubles.values()) {
            count += ofStream.size();
        }
        return count >= REMEMBERED_MAX;
    }

    /**
     * A folder was looked at: notes what is wrong there, and forgets what was and isn't any more.
     *
     * @param wrong by file
     */
    void looked(StreamId stream, Map<String, String> wrong, Predicate<String> isThere) {
        wrong.forEach((file, what) -> add(stream, file, what, true));
        Map<String, Trouble> known = troubles.get(stream);
        if (known != null) {
            known.values()
                    .removeIf(trouble ->
                            trouble.byLook() && !wrong.containsKey(trouble.file()) && isThere.test(trouble.file()));
            troubles.computeIfPresent(stream, (id, left) -> left.isEmpty() ? null : left);
        }
    }

    void forget(StreamId stream) {
        troubles.remove(stream);
    }
}
