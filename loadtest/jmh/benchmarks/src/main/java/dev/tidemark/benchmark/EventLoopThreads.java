package dev.tidemark.benchmark;

import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Runs benchmarks on threads like those of the server's event loops: Netty's buffers have a cache of their own only there. */
public final class EventLoopThreads extends ThreadPoolExecutor {
    /** As JMH calls it. */
    public EventLoopThreads(int threads, String prefix) {
        super(
                threads,
                threads,
                0,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(),
                new DefaultThreadFactory(prefix, true));
    }
}
