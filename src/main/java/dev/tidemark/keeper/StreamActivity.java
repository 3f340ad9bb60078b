package dev.tidemark.keeper;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * The streams of which memory or settings have changed since somebody looked, so that nobody has to look at all of them. Any thread;
 * one taker.
 */
public final class StreamActivity {
    private final Queue<KeeperStream> changed = new ConcurrentLinkedQueue<>();

    /** Takes a stream that isn't in it. */
    void add(KeeperStream stream) {
        changed.add(stream);
    }

    /** Those that have changed since the last call. */
    public List<LiveStream> take() {
        List<LiveStream> taken = new ArrayList<>();
        for (KeeperStream stream = changed.poll(); stream != null; stream = changed.poll()) {
            stream.changesTaken();
            taken.add(stream);
        }
        return taken;
    }
}
