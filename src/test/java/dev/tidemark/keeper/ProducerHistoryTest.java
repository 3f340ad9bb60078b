package dev.tidemark.keeper;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.BodyHash;
import dev.tidemark.event.Position;
import dev.tidemark.event.Producer;
import dev.tidemark.event.RequestIds;
import dev.tidemark.event.StoredRequest;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("R28")
class ProducerHistoryTest {
    private static final long NOW = 1_764_440_000_000L;

    private final ProducerHistory history = new ProducerHistory(3, 4);

    private static StoredRequest request(Producer producer, long storedMs) {
        return new StoredRequest(
                producer, new BodyHash(1, producer.seq()), RequestIds.of(List.of(new Position(storedMs, 0))), storedMs);
    }

    private static StoredRequest request(String id, long epoch, long seq, long storedMs) {
        return request(new Producer(id, epoch, seq), storedMs);
    }

    @Test
    void theLastFiveRequestsOfAProducerAreRemembered() {
        for (int seq = 0; seq < 9; seq++) {
            history.remember(request("p", 0, seq, NOW + seq));
        }
        ProducerHistory.Requests of = Objects.requireNonNull(history.producer("p", NOW));
        assertNull(of.find(3));
        assertNotNull(of.find(4));
        assertEquals(8, of.newest().producer().seq());
        assertEquals(5, history.size());
    }

    @Test
    void aNewEpochForgetsTheOlderOne() {
        history.remember(request("p", 0, 7, NOW));
        history.remember(request("p", 2, 0, NOW));
        history.remember(request("p", 0, 8, NOW));
        ProducerHistory.Requests of = Objects.requireNonNull(history.producer("p", NOW));
        assertEquals(2, of.epoch());
        assertNull(of.find(7));
        assertEquals(1, history.size());
    }

    @Test
    void theOrderOfAddingAndAddingTwiceChangeNothing() {
        long seed = System.nanoTime();
        List<StoredRequest> all = new ArrayList<>();
        for (int seq = 0; seq < 12; seq++) {
            all.add(request("p", 1, seq, NOW + seq));
            all.add(request("q", seq / 5, seq % 5, NOW + seq));
            all.add(request(Producer.idempotencyKey("k" + seq % 3), NOW + seq));
        }
        all.forEach(history::remember);
        Random random = new Random(seed);
        for (int round = 0; round < 50; round++) {
            List<StoredRequest> shuffled = new ArrayList<>(all);
            shuffled.addAll(all.subList(0, random.nextInt(all.size())));
            Collections.shuffle(shuffled, random);
            ProducerHistory other = new ProducerHistory(3, 4);
            shuffled.forEach(other::remember);
            assertEquals(new HashSet<>(history.all()), new HashSet<>(other.all()), "seed " + seed);
        }
    }

    @Test
    void aProducerIsForgottenAfterADayAndAKeyAfterAQuarterOfAnHour() {
        history.remember(request("p", 0, 0, NOW));
        history.remember(request(Producer.idempotencyKey("k"), NOW));
        long quarter = NOW + ProducerHistory.KEY_MS;
        assertNotNull(history.key("k", quarter));
        assertNull(history.key("k", quarter + 1));
        long day = NOW + ProducerHistory.PRODUCER_MS;
        assertNotNull(history.producer("p", day));
        assertNull(history.producer("p", day + 1));
        history.expire(day);
        assertEquals(1, history.size());
        history.expire(day + 1);
        assertEquals(0, history.size());
        assertEquals(List.of(), history.all());
    }

    @Test
    void aKeyAndAProducerOfTheSameNameAreStrangers() {
        history.remember(request("x", 0, 0, NOW));
        assertNull(history.key("x", NOW));
        history.remember(request(Producer.idempotencyKey("x"), NOW));
        assertNotNull(history.key("x", NOW));
        assertEquals(0, Objects.requireNonNull(history.producer("x", NOW)).epoch());
    }

    @Test
    void overTheLimitTheLeastRecentlyUsedProducerGoes() {
        for (String id : List.of("a", "b", "c")) {
            history.remember(request(id, 0, 0, NOW));
        }
        assertNotNull(history.producer("a", NOW));
        history.remember(request("d", 0, 0, NOW));
        assertNull(history.producer("b", NOW));
        assertNotNull(history.producer("a", NOW));
        assertEquals(3, history.producers());
        assertEquals(3, history.size());
    }

    @Test
    void theLimitsOfAStreamAreSharedByItsStripes() {
        assertEquals(100_000, ProducerHistory.ofStripe(1).keysMax());
        assertEquals(25_000, ProducerHistory.ofStripe(4).keysMax());
        assertTrue(ProducerHistory.ofStripe(1_024).keysMax() >= 97);
    }
}
