package dev.tidemark.fold;

import dev.tidemark.event.FakeClock;
import dev.tidemark.read.EventLoop;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.TreeMap;

/** The one event loop of a simulation, by a fake clock. */
final class SimulatedLoop implements EventLoop {
    private final FakeClock clock;
    private final Deque<Runnable> tasks = new ArrayDeque<>();
    private final TreeMap<Long, List<Runnable>> timers = new TreeMap<>();

    SimulatedLoop(FakeClock clock) {
        this.clock = clock;
    }

    @Override
    public void post(Runnable task) {
        tasks.add(task);
    }

    @Override
    public void schedule(long delayMs, Runnable task) {
        timers.computeIfAbsent(clock.monotonicNs() + delayMs * 1_000_000, at -> new ArrayList<>())
                .add(task);
    }

    /** Runs what is due, and all that follows from it without time passing. */
    void drain() {
        while (!timers.isEmpty() && timers.firstKey() <= clock.monotonicNs()) {
            timers.pollFirstEntry().getValue().forEach(this::post);
        }
        while (!tasks.isEmpty()) {
            tasks.remove().run();
        }
    }
}
