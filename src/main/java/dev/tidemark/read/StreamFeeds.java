package dev.tidemark.read;

import dev.tidemark.event.Clock;
import dev.tidemark.event.StreamId;
import dev.tidemark.keeper.LiveStream;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** The feeds there are: one for each stream and event loop that has subscriptions. An entry is only changed on its own loop. */
final class StreamFeeds {
    private final Map<Key, StreamFeed> feeds = new ConcurrentHashMap<>();
    private final AtomicLong subscriptions = new AtomicLong();
    private final AtomicLong behind = new AtomicLong();
    private final Clock clock;
    private final ReadPace pace;

    private record Key(EventLoop loop, StreamId stream) {}

    StreamFeeds(Clock clock, ReadPace pace) {
        this.clock = clock;
        this.pace = pace;
    }

    StreamFeed join(LiveStream stream, EventLoop loop, StreamSubscription member) {
        StreamFeed feed =
                feeds.computeIfAbsent(new Key(loop, stream.id()), key -> new StreamFeed(stream, loop, clock, pace));
        feed.join(member);
        subscriptions.incrementAndGet();
        return feed;
    }

    void leave(LiveStream stream, StreamFeed feed) {
        subscriptions.decrementAndGet();
        if (feed.leave()) {
            feeds.remove(new Key(feed.loop(), stream.id()), feed);
        }
    }

    /** Any thread. */
    long subscriptions() {
        return subscriptions.get();
    }

    /** One more, or one less, is given history. Any thread. */
    void behind(int more) {
        behind.addAndGet(more);
    }

    /** Subscriptions that are given history, or fell behind. Any thread. */
    long behind() {
        return behind.get();
    }

    /** Any thread: every subscription is ended on its own loop. */
    void stop() {
        feeds.values().forEach(feed -> feed.loop().post(feed::stop));
    }
}
