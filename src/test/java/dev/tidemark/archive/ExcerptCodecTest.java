package dev.tidemark.archive;

import static dev.tidemark.archive.Sample.at;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.BodyHash;
import dev.tidemark.event.Chunk;
import dev.tidemark.event.ChunkBuilder;
import dev.tidemark.event.ContentType;
import dev.tidemark.event.Event;
import dev.tidemark.event.EventExtras;
import dev.tidemark.event.OrdinalRange;
import dev.tidemark.event.Position;
import dev.tidemark.event.Producer;
import dev.tidemark.event.RequestIds;
import dev.tidemark.event.RequestMark;
import dev.tidemark.event.StoredRequest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class ExcerptCodecTest {
    private final ExcerptCodec codec = new ExcerptCodec();
    private final Excerpt excerpt = new Excerpt();

    private boolean take() {
        System.arraycopy(codec.bytes(), 0, excerpt.room(codec.length()), 0, codec.length());
        return excerpt.check(codec.length());
    }

    @Test
    @Tag("R26")
    void everyEventComesBackAsItWas() {
        long seed = Objects.requireNonNull(Long.getLong("seed", System.nanoTime()));
        System.out.println("everyEventComesBackAsItWas: -Dseed=" + seed);
        Random random = new Random(seed);
        List<Event> events = new ArrayList<>();
        for (int i = 0; i < 2_000; i++) {
            events.add(Sample.random(at(i, random.nextInt(1 << 22)), i + 1, random));
        }
        Chunk chunk = Sample.chunk(events);
        ChunkBuilder back = new ChunkBuilder(Sample.GENERATION, 0);
        for (int i = 0; i < chunk.count(); i++) {
            codec.event(chunk, i);
            assertTrue(codec.length() <= ExcerptCodec.bytesMax(chunk, i));
            assertTrue(take());
            assertTrue(excerpt.isEvent());
            assertEquals(chunk.position(i), excerpt.key());
            assertEquals(ArchivePage.weight(chunk.type(i), chunk.payloadLength(i)), excerpt.weight());
            excerpt.addTo(back);
        }
        ArchiveContract.assertSame(events, back.view());
    }

    @Test
    void anyFlippedBitIsSeen() {
        EventExtras extras = new EventExtras(new Producer("p", 1, 2), List.of(new OrdinalRange(3, 4)));
        Event event = new Event(at(5, 6), at(7, 8), 9, -1, true, "text/plain", extras, new byte[] {1, 2, 3});
        codec.event(Sample.chunk(List.of(event)), 0);
        for (int bit = 0; bit < codec.length() * 8; bit++) {
            codec.bytes()[bit / 8] ^= (byte) (1 << bit % 8);
            assertFalse(take(), "bit " + bit);
            codec.bytes()[bit / 8] ^= (byte) (1 << bit % 8);
        }
        assertTrue(take());
        for (int length = 0; length < codec.length(); length++) {
            System.arraycopy(codec.bytes(), 0, excerpt.room(length), 0, length);
            assertFalse(excerpt.check(length));
        }
    }

    /** Archives are read for years: these bytes must stay readable. */
    @Test
    void theFormatIsTheOneThatIsDrawn() {
        EventExtras extras = new EventExtras(new Producer("pé", 1, 2), List.of(new OrdinalRange(3, 4)));
        Event event = new Event(at(5, 6), at(7, 8), 9, -1, true, "text/plain", extras, new byte[] {1, 2, 3});
        codec.event(Sample.chunk(List.of(event)), 0);
        String head = "01013f00" + "XXXXXXXX" + "78000000" + "00000000" + "05cce8cc9a010000" + "0600000000000000"
                + "0900000000000000" + "07cce8cc9a010000" + "0800000000000000" + "ffffffffffffffff"
                + "0a00746578742f706c61696e" + "030070c3a9" + "0100000000000000" + "0200000000000000"
                + "01000000" + "0300000000000000" + "0400000000000000" + "010203";
        String written = HexFormat.of().formatHex(codec.bytes(), 0, codec.length());
        assertEquals(codec.length(), head.length() / 2);
        assertEquals(head, written.substring(0, 8) + "XXXXXXXX" + written.substring(16));
    }

    /** As above, for what makes requests exactly-once. */
    @Test
    @Tag("R28")
    void theFormatOfAMarkedRequestIsTheOneThatIsDrawn() {
        RequestIds ids = RequestIds.restore(3, new long[] {5, 9}, new int[] {2, 1});
        EventExtras extras = new EventExtras(
                new Producer("p", 1, 2), new RequestMark(new BodyHash(17, 18), ids), List.of(new OrdinalRange(3, 4)));
        Event event =
                new Event(at(5, 6), at(5, 6), 9, Event.NO_TIME, false, ContentType.JSON, extras, new byte[] {'1'});
        codec.event(Sample.chunk(List.of(event)), 0);
        String body = "0900000000000000" + "010070" + "0100000000000000" + "0200000000000000"
                + "1100000000000000" + "1200000000000000" + "03000000" + "0200" + "0200"
                + "0500000000000000" + "0900000000000000" + "02000000" + "01000000"
                + "01000000" + "0300000000000000" + "0400000000000000" + "31";
        String written = HexFormat.of().formatHex(codec.bytes(), ExcerptCodec.HEAD_BYTES, codec.length());
        assertEquals(body, written);
        assertTrue(take() && excerpt.hasProducer());
        assertEquals(StoredRequest.of(event), excerpt.storedRequest());
    }

    @Test
    @Tag("R28")
    void aCheckpointOfManyRequestsComesBackInPartsAsItWas() {
        Random random = new Random(28);
        Map<Integer, List<StoredRequest>> requests = new java.util.TreeMap<>();
        for (int i = 0; i < 3_000; i++) {
            Producer producer = random.nextInt(3) == 0
                    ? Producer.idempotencyKey("key " + i)
                    : new Producer("p\u00e9" + i / 5, i % 7, i);
            List<Position> positions = new ArrayList<>();
            for (int n = random.nextInt(1, 60); n > 0; n--) {
                positions.add(at(random.nextInt(9), n));
            }
            BodyHash body = random.nextInt(9) == 0 ? null : new BodyHash(random.nextLong(), random.nextLong());
            requests.computeIfAbsent(random.nextInt(3), s -> new ArrayList<>())
                    .add(new StoredRequest(producer, body, RequestIds.of(positions), i));
        }
        List<ProducerCheckpoint.Part> parts = ProducerCheckpoint.parts(requests);
        assertTrue(parts.size() > 10);
        ProducerCheckpoint.Join join = new ProducerCheckpoint.Join();
        Map<Integer, List<StoredRequest>> back = new java.util.TreeMap<>();
        for (ProducerCheckpoint.Part part : parts) {
            codec.producers(part, at(9, 1));
            assertTrue(codec.length() <= part.bytesMax());
            assertTrue(codec.length() < 2 * ProducerCheckpoint.PART_BYTES);
            assertTrue(take() && excerpt.isProducers());
            assertEquals(at(9, 1), excerpt.key());
            var joined = join.add(excerpt.producersPart());
            assertEquals(part.number() == parts.size() - 1, joined != null);
            if (joined != null) {
                joined.forEach(one -> back.computeIfAbsent(one.stripe(), s -> new ArrayList<>())
                        .addAll(one.requests()));
            }
        }
        assertEquals(requests, back);
    }

    @Test
    @Tag("R28")
    void aCheckpointThatLacksAPartSaysNothing() {
        ProducerCheckpoint.Join join = new ProducerCheckpoint.Join();
        var first = new ProducerCheckpoint.Part(0, 0, 2, List.of());
        var second = new ProducerCheckpoint.Part(0, 1, 2, List.of());
        assertEquals(null, join.add(second));
        assertEquals(null, join.add(first));
        assertEquals(null, join.add(first));
        assertEquals(List.of(first, second), join.add(second));
        ProducerBounds bounds = new ProducerBounds();
        bounds.event(at(1, 0));
        bounds.part(1, 2, at(2, 0));
        bounds.part(0, 2, at(3, 0));
        assertEquals(at(1, 0), bounds.from());
        bounds.part(1, 2, at(3, 0));
        assertEquals(at(3, 0), bounds.from());
        assertEquals(at(3, 0), bounds.through());
    }

    @Test
    void missingOrdinalsAndWaypointsComeBackAsTheyWere() {
        codec.missing(3, new OrdinalRange(4, 9), true, at(1, 0), at(2, 5), at(1, 0));
        assertTrue(take());
        assertTrue(excerpt.isMissing() && excerpt.isLost());
        assertEquals(3, excerpt.stripe());
        assertEquals(new OrdinalRange(4, 9), excerpt.ordinals());
        assertEquals(at(1, 0), excerpt.missingAfter());
        assertEquals(at(2, 5), excerpt.missingThrough());
        codec.missing(3, new OrdinalRange(4, 9), false, at(1, 0), at(2, 5), at(1, 0));
        assertTrue(take() && !excerpt.isLost());
        ProducerBounds producers = new ProducerBounds();
        producers.set(at(3, 1), at(8, 2));
        Map<Integer, StripeCount> counts =
                Map.of(0, new StripeCount(1, 30, 4, 5), 1_023, new StripeCount(0, 1L << 50, 0, 0));
        codec.waypoint(at(9, 1), 77, 12_345, 20_000, Map.of(0, 40L, 1_023, 1L << 50), counts, producers);
        assertTrue(take());
        assertTrue(excerpt.isWaypoint());
        assertEquals(at(9, 1), excerpt.key());
        assertEquals(77, excerpt.eventsBefore());
        assertEquals(12_345, excerpt.earlierBytes());
        assertEquals(20_000, excerpt.fileBefore());
        assertEquals(Map.of(0, 40L, 1_023, 1L << 50), excerpt.ordinalsBefore());
        assertEquals(counts, excerpt.countsBefore());
        ProducerBounds back = new ProducerBounds();
        excerpt.takeProducersBefore(back);
        assertEquals(at(3, 1), back.from());
        assertEquals(at(8, 2), back.through());
    }

    @Test
    void aWaypointOfAllStripesFits() {
        Map<Integer, Long> ordinals = new java.util.TreeMap<>();
        for (int stripe = 0; stripe < 1_024; stripe++) {
            ordinals.put(stripe, Long.MAX_VALUE);
        }
        codec.waypoint(at(9, 1), 77, 12_345, RollFiles.NONE, ordinals, Map.of(), new ProducerBounds());
        assertTrue(take());
        assertEquals(ordinals, excerpt.ordinalsBefore());
        assertEquals(RollFiles.NONE, excerpt.fileBefore());
        assertEquals(ContentType.JSON, "application/json");
    }
}
