package dev.tidemark.server;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.client.Appended;
import dev.tidemark.client.Event;
import dev.tidemark.client.EventReader;
import dev.tidemark.client.Follow;
import dev.tidemark.client.NewEvent;
import dev.tidemark.client.Producer;
import dev.tidemark.client.ReadRange;
import dev.tidemark.client.Seam;
import dev.tidemark.client.Subscription;
import dev.tidemark.client.Tail;
import dev.tidemark.client.TidemarkClient;
import dev.tidemark.client.TidemarkException;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The Java client against the real server. */
@Tag("client")
@Timeout(120)
class ClientIT {
    private static final long SEED = Long.getLong("tidemark.seed", System.nanoTime());

    @RegisterExtension
    static final RunningServer SERVER = new RunningServer(Map.of());

    private static TidemarkClient client() {
        return TidemarkClient.at(SERVER.url());
    }

    @Test
    void everyPayloadComesBackByteForByte() {
        String large = "[" + "1.50,".repeat(100_000) + "2e3]";
        List<NewEvent> events = List.of(
                NewEvent.json(" {\"a\" : [1, 2.50]} ".trim()),
                NewEvent.json("{\n  \"lines\": \"\\u00e4\"\r\n}"),
                NewEvent.json(large),
                NewEvent.text("a\nb \"c\" \u20ac"),
                NewEvent.bytes("image/png", new byte[] {0, (byte) 0xff, 10}),
                NewEvent.json("7").happenedAt(Instant.ofEpochMilli(1_700_000_000_123L)));
        Appended appended = client().producer("pay/löads").append(events);
        assertEquals(6, appended.count());
        assertFalse(appended.duplicate());
        Tail tail = client().tail("pay/löads", 10);
        assertTrue(tail.complete());
        assertEquals(appended.cursor(), tail.cursor());
        List<Event> got = tail.events();
        assertEquals(appended.first(), got.get(0).id());
        assertEquals("{\"a\" : [1, 2.50]}", got.get(0).text());
        assertEquals("{\n  \"lines\": \"\\u00e4\"\r\n}", got.get(1).text());
        assertEquals(large, got.get(2).text());
        assertEquals("a\nb \"c\" \u20ac", got.get(3).text());
        assertEquals("text/plain", got.get(3).contentType());
        assertArrayEquals(new byte[] {0, (byte) 0xff, 10}, got.get(4).payload());
        assertEquals("image/png", got.get(4).contentType());
        assertEquals(OptionalLong.of(1_700_000_000_123L), got.get(5).time());
        List<String> followed = new CopyOnWriteArrayList<>();
        try (Subscription subscription =
                client().subscribe("pay/löads", Follow.earliest(), event -> followed.add(event.text()))) {
            await().until(() -> followed.size() == 6);
            List<String> expected =
                    new ArrayList<>(got.stream().map(Event::text).toList());
            expected.set(1, "{   \"lines\": \"\\u00e4\"  }");
            assertEquals(expected, followed, "as they were sent, but on one line");
            assertEquals(appended.cursor(), subscription.cursor());
        }
    }

    @Test
    void streamsAreCreatedDescribedAndDeleted() {
        TidemarkClient client = client();
        client.create("made", Map.of("live_max_events", 1_000, "acceptance_window", "0s"));
        Seam empty = client.seam("made");
        assertEquals(null, empty.tail());
        Appended appended = client.producer("made").append(NewEvent.json("1"));
        assertEquals(appended.last(), client.seam("made").tail());
        client.delete("made");
        client.delete("made");
        TidemarkException gone = assertThrows(TidemarkException.class, () -> client.seam("made"));
        assertEquals(404, gone.status());
        assertEquals("urn:tidemark:problem:not_found", gone.type());
        TidemarkException bad =
                assertThrows(TidemarkException.class, () -> client.create("made", Map.of("live_max_events", "many")));
        assertEquals(400, bad.status());
    }

    @Test
    void invalidJsonIsRefusedAndNothingIsStored() {
        Producer producer = client().producer("strict");
        for (String wrong : List.of("{\"a\":1", "1,\"time\":5", "{}}", "\"a", "nul", "")) {
            TidemarkException refused =
                    assertThrows(TidemarkException.class, () -> producer.append(NewEvent.json(wrong)), wrong);
            assertEquals(400, refused.status(), wrong);
            assertEquals(TidemarkException.Stored.NO, refused.stored());
        }
        producer.append(NewEvent.json("{}"));
        assertEquals(1, client().tail("strict", 10).events().size());
    }

    @Test
    void aDeletedStreamEndsItsSubscription() {
        client().create("short", Map.of());
        Subscription subscription = client().subscribe("short", Follow.latest(), event -> {});
        await().until(() -> !subscription.cursor().isEmpty());
        client().delete("short");
        ExecutionException end =
                assertThrows(ExecutionException.class, () -> subscription.done().get(20, TimeUnit.SECONDS));
        assertEquals(404, ((TidemarkException) end.getCause()).status());
    }

    @Test
    void aRangeIsReadLazilyAndCanBeLeftInTheMiddle() {
        try (Numbers unused = Numbers.of(SERVER.api(), "long", 20_000, 100);
                EventReader reader = client().read("long", ReadRange.all())) {
            for (int n = 0; n < 5_000; n++) {
                assertEquals(n, Numbers.in("\"data\":" + reader.next().text()));
            }
            String cursor = String.valueOf(reader.cursor());
            reader.close();
            try (EventReader rest =
                    client().read("long", ReadRange.all().after(cursor).limit(10_000))) {
                long[] numbers = rest.stream()
                        .mapToLong(event -> Numbers.in("\"data\":" + event.text()))
                        .toArray();
                assertArrayEquals(LongStream.range(5_000, 15_000).toArray(), numbers);
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Every tenth answer is lost, requests come late and twice, and the server is killed: each event is there once, in its order. */
    @Test
    void aProducersAppendsAreStoredOnceWhateverIsLost() throws Exception {
        System.out.println("seed " + SEED);
        SplittableRandom random = new SplittableRandom(SEED);
        try (LossyProxy proxy = new LossyProxy(SEED)) {
            proxy.target(URI.create(SERVER.url()).getPort());
            TidemarkClient client = TidemarkClient.builder("http://127.0.0.1:" + proxy.port())
                    .deadline(Duration.ofSeconds(40))
                    .answerWithin(Duration.ofSeconds(2))
                    .build();
            Producer producer = client.producer("once");
            Thread killer = new Thread(() -> {
                proxy.target(1);
                SERVER.killAndRestart();
                proxy.target(URI.create(SERVER.url()).getPort());
            });
            int next = 0;
            long duplicates = 0;
            while (next < 1_000 || killer.isAlive()) {
                List<NewEvent> batch = new ArrayList<>();
                for (int i = random.nextInt(1, 5); i > 0; i--) {
                    batch.add(NewEvent.json("{\"n\":" + next++ + ",\"x\":0}"));
                }
                duplicates += producer.append(batch).duplicate() ? 1 : 0;
                if (next > 500 && killer.getState() == Thread.State.NEW) {
                    killer.start();
                }
            }
            killer.join();
            assertTrue(
                    proxy.dropped() > 10 && duplicates > 10, proxy.dropped() + " lost, " + duplicates + " duplicates");
            List<String> payloads = SERVER.api().payloads(Api.stream("once") + "/events");
            assertEquals(next, payloads.size());
            for (int n = 0; n < next; n++) {
                assertEquals("{\"n\":" + n + ",\"x\":0}", payloads.get(n));
            }
            System.out.println(next + " events, each once; " + proxy.dropped() + " answers lost, " + proxy.delayed()
                    + " requests late, " + duplicates + " answered as duplicates");
        }
    }
}
