package dev.tidemark.keeper;

import dev.tidemark.event.Producer;
import dev.tidemark.event.StoredRequest;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The stored requests of one stripe that are remembered: the last five of each producer for a day, those with an idempotency key for a
 * quarter of an hour. The result doesn't depend on the order in which requests are added, nor on adding one again: so it can be
 * built anew from checkpoint, archive and live log, which overlap. One thread.
 */
public final class ProducerHistory {
    public static final int REQUESTS_MAX = 5;
    public static final long PRODUCER_MS = 24 * 3_600_000L;
    public static final long KEY_MS = 15 * 60_000L;
    /** Of a stream. */
    public static final int PRODUCERS_MAX = 10_000;
    /** Of a stream. */
    public static final int KEYS_MAX = 100_000;

    private final int producersMax;
    private final int keysMax;
    /** The least recently used first. */
    private final Map<String, Requests> producers = new LinkedHashMap<>(16, 0.75f, true);
    /** The oldest first. */
    private final Map<String, StoredRequest> keys = new LinkedHashMap<>();

    private int requests;

    ProducerHistory(int producersMax, int keysMax) {
        this.producersMax = producersMax;
        this.keysMax = keysMax;
    }

    /**
     * The history of one stripe of a stream. Writers are spread by hash, so a stripe keeps twice its share of producers; of keys, which
     * are limited, exactly its share.
     */
    public static ProducerHistory ofStripe(int stripes) {
        return new ProducerHistory(
                Math.min(PRODUCERS_MAX, 2 * PRODUCERS_MAX / stripes + 1), (KEYS_MAX + stripes - 1) / stripes);
    }

    /** What is remembered of one producer: one epoch, in the order of the numbers. */
    static final class Requests {
        private final List<StoredRequest> byNumber = new ArrayList<>(1);

        long epoch() {
            return newest().producer().epoch();
        }

        StoredRequest newest() {
            return byNumber.get(byNumber.size() - 1);
        }

        @Nullable
        StoredRequest find(long seq) {
            for (StoredRequest request : byNumber) {
                if (request.producer().seq() == seq) {
                    return request;
                }
            }
            return null;
        }

        private void add(StoredRequest request) {
            Producer producer = request.producer();
            if (!byNumber.isEmpty() && producer.epoch() != epoch()) {
                if (producer.epoch() < epoch()) {
                    return;
                }
                byNumber.clear();
            }
            int at = byNumber.size();
            while (at > 0 && byNumber.get(at - 1).producer().seq() >= producer.seq()) {
                at--;
            }
            if (at < byNumber.size() && byNumber.get(at).producer().seq() == producer.seq()) {
                return;
            }
            byNumber.add(at, request);
            if (byNumber.size() > REQUESTS_MAX) {
                byNumber.remove(0);
            }
        }

        private boolean isOlderThan(long ms) {
            return byNumber.stream().allMatch(request -> request.storedMs() < ms);
        }
    }

    /** Adds a stored request. */
    public void remember(StoredRequest request) {
        String id = request.producer().id();
        if (request.producer().isIdempotencyKey()) {
            StoredRequest known = keys.get(id);
            if (known == null || known.storedMs() < request.storedMs()) {
                keys.remove(id);
                keys.put(id, request);
                removeOldest(keys, keysMax);
            }
            return;
        }
        Requests of = producers.computeIfAbsent(id, fresh -> new Requests());
        requests -= of.byNumber.size();
        of.add(request);
        requests += of.byNumber.size();
        if (producers.size() > producersMax) {
            Iterator<Requests> oldest = producers.values().iterator();
            requests -= oldest.next().byNumber.size();
            oldest.remove();
        }
    }

    private static void removeOldest(Map<String, ?> map, int max) {
        if (map.size() > max) {
            Iterator<?> oldest = map.values().iterator();
            oldest.next();
            oldest.remove();
        }
    }

    /** What is remembered of a producer, which counts as used; null if nothing is. */
    @Nullable
    Requests producer(String id, long nowMs) {
        Requests of = producers.get(id);
        return of == null || of.isOlderThan(nowMs - PRODUCER_MS) ? null : of;
    }

    /** The request that had this idempotency key; null if none is remembered. */
    @Nullable
    StoredRequest key(String key, long nowMs) {
        StoredRequest request = keys.get(key);
        return request == null || request.storedMs() < nowMs - KEY_MS ? null : request;
    }

    int keys() {
        return keys.size();
    }

    int keysMax() {
        return keysMax;
    }

    int producers() {
        return producers.size();
    }

    /** How many requests are remembered. */
    public int size() {
        return requests + keys.size();
    }

    /** Forgets what is too old. */
    public void expire(long nowMs) {
        Iterator<Requests> leastUsed = producers.values().iterator();
        while (leastUsed.hasNext()) {
            Requests of = leastUsed.next();
            if (!of.isOlderThan(nowMs - PRODUCER_MS)) {
                break;
            }
            requests -= of.byNumber.size();
            leastUsed.remove();
        }
        expireKeys(nowMs);
    }

    void expireKeys(long nowMs) {
        Iterator<StoredRequest> oldest = keys.values().iterator();
        while (oldest.hasNext() && oldest.next().storedMs() < nowMs - KEY_MS) {
            oldest.remove();
        }
    }

    /** All that is remembered; adding it to another history makes that one the same. */
    public List<StoredRequest> all() {
        List<StoredRequest> all = new ArrayList<>(size());
        producers.values().forEach(of -> all.addAll(of.byNumber));
        all.addAll(keys.values());
        return all;
    }
}
