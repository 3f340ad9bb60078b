package dev.tidemark.loadtest;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/** Closed loop: every sender sends again as soon as it has its answer. Says how many events a second were acknowledged. */
public final class Throughput {
    private static final long WARM_UP_NS = TimeUnit.SECONDS.toNanos(1);

    /** Sends one request and waits for the answer. */
    public interface Sender {
        /** Events that were acknowledged. */
        int send() throws IOException;
    }

    private Throughput() {}

    /** Runs the senders, each on a thread, for a second of warm-up and then the seconds that count. */
    public static double perSecond(List<Sender> senders, int seconds) throws IOException, InterruptedException {
        long from = System.nanoTime() + WARM_UP_NS;
        long to = from + TimeUnit.SECONDS.toNanos(seconds);
        LongAdder events = new LongAdder();
        onThreads(senders, sender -> {
            long now = System.nanoTime();
            while (now - to < 0) {
                int sent = sender.send();
                now = System.nanoTime();
                if (now - from >= 0 && now - to < 0) {
                    events.add(sent);
                }
            }
        });
        return (double) events.sum() / seconds;
    }

    /** Something done for each element, on a thread of its own. */
    public interface Task<T> {
        void run(T element) throws IOException, InterruptedException;
    }

    /** Runs a task for every element at the same time; throws what the first of them threw. */
    public static <T> void onThreads(List<T> elements, Task<T> task) throws IOException, InterruptedException {
        ExecutorService threads = Executors.newFixedThreadPool(elements.size());
        try {
            List<Future<?>> running = new ArrayList<>();
            for (T element : elements) {
                running.add(threads.submit(() -> {
                    task.run(element);
                    return element;
                }));
            }
            for (Future<?> each : running) {
                Object unused = each.get();
            }
        } catch (ExecutionException e) {
            throw new IOException(String.valueOf(e.getCause()), e);
        } finally {
            List<Runnable> unused = threads.shutdownNow();
        }
    }
}
