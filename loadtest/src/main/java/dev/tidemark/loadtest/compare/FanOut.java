package dev.tidemark.loadtest.compare;

import dev.tidemark.loadtest.driver.Subscribers;
import java.io.IOException;
import java.util.concurrent.TimeUnit;

/**
 * How many deliveries a second a system makes to many subscribers when it gets events as fast as the slowest of them takes these: the
 * publisher is never further ahead of it than a window. At the end each subscriber must have got every event.
 */
record FanOut(int port, Subscribers.Talk talk, Times times) {
    static final int BATCH = 100;
    static final int WINDOW = 1_000;

    /** Publishes one batch of {@link #BATCH} events and waits until it is acknowledged. */
    interface Publisher {
        void publish() throws IOException;
    }

    static String method(int subscribers) {
        return subscribers + " WebSockets read by one thread; events in batches of " + BATCH + ", never more than "
                + WINDOW + " ahead of the slowest";
    }

    /** Deliveries a second to all subscribers together. */
    double perSecond(int count, Publisher publisher) throws IOException, InterruptedException {
        try (Subscribers subscribers = Subscribers.open(port, count, talk)) {
            long countsFrom = System.nanoTime() + TimeUnit.SECONDS.toNanos(times.warmUpSeconds());
            long published = publishUntil(countsFrom, 0, publisher, subscribers);
            long totalFrom = subscribers.total();
            long from = System.nanoTime();
            published =
                    publishUntil(from + TimeUnit.SECONDS.toNanos(times.seconds()), published, publisher, subscribers);
            double perSecond = (subscribers.total() - totalFrom) * 1e9 / (System.nanoTime() - from);
            subscribers.awaitEach(published);
            long extra = subscribers.total() - published * count;
            if (extra != 0) {
                throw new IOException(extra + " deliveries more than events times subscribers");
            }
            return perSecond;
        }
    }

    private static long publishUntil(long end, long before, Publisher publisher, Subscribers subscribers)
            throws IOException, InterruptedException {
        long published = before;
        while (System.nanoTime() - end < 0) {
            publisher.publish();
            published += BATCH;
            subscribers.awaitEach(published - WINDOW);
        }
        return published;
    }
}
