package dev.tidemark.livelog;

import dev.tidemark.event.StripeId;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/** Keys of stripes as bytes, of the stripes that were used last. One thread owns it. */
final class LiveLogKeysCache {
    private static final int SIZE = 1_024;

    private final LiveLogKeys keys;
    private final Map<StripeId, byte[]> cache = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<StripeId, byte[]> eldest) {
            return size() > SIZE;
        }
    };

    LiveLogKeysCache(LiveLogKeys keys) {
        this.keys = keys;
    }

    byte[] live(StripeId stripe) {
        return cache.computeIfAbsent(stripe, s -> keys.live(s).getBytes(StandardCharsets.UTF_8));
    }
}
