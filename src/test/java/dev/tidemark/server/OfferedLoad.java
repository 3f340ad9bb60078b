package dev.tidemark.server;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Appends offered at a steady rate whatever becomes of the ones before, as many independent clients do: numbered events, some a
 * request. Nothing is sent again.
 */
final class OfferedLoad implements AutoCloseable {
    private static final int EVENTS_A_REQUEST = 20;
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final URI uri;
    private final ConcurrentLinkedQueue<Result> results = new ConcurrentLinkedQueue<>();
    private final List<CompletableFuture<?>> underWay = new ArrayList<>();
    private final Thread thread;
    private final long pauseNs;
    private volatile boolean stopping;

    /**
     * What became of one request.
     *
     * @param from number of its first event
     * @param status of the answer; 0 if there was none
     * @param body of the answer
     */
    record Result(long from, int status, long sentNs, long answeredNs, String body, String retryAfter) {
        boolean acked() {
            return status == 201;
        }

        double tookMs() {
            return (answeredNs - sentNs) / 1e6;
        }

        boolean maybeStored() {
            return !acked() && !body.contains("\"stored\":\"no\"");
        }

        List<Long> numbers() {
            List<Long> numbers = new ArrayList<>();
            for (int i = 0; i < EVENTS_A_REQUEST; i++) {
                numbers.add(from + i);
            }
            return numbers;
        }
    }

    OfferedLoad(String url, String stream, int eventsASecond) {
        uri = URI.create(url + Api.stream(stream) + "/events");
        pauseNs = 1_000_000_000L * EVENTS_A_REQUEST / eventsASecond;
        thread = new Thread(this::offer, "offered-load");
        thread.start();
    }

    private void offer() {
        long next = System.nanoTime();
        long from = 0;
        while (!stopping) {
            send(from);
            from += EVENTS_A_REQUEST;
            next += pauseNs;
            long ahead = next - System.nanoTime();
            if (ahead > 0) {
                java.util.concurrent.locks.LockSupport.parkNanos(ahead);
            }
        }
    }

    private void send(long from) {
        StringBuilder body = new StringBuilder();
        for (int i = 0; i < EVENTS_A_REQUEST; i++) {
            body.append("{\"n\":").append(from + i).append("}\n");
        }
        HttpRequest request = HttpRequest.newBuilder(uri)
                .timeout(TIMEOUT)
                .header("Content-Type", "application/x-ndjson")
                .POST(HttpRequest.BodyPublishers.ofString(body.toString()))
                .build();
        long sentNs = System.nanoTime();
        underWay.removeIf(CompletableFuture::isDone);
        underWay.add(client.sendAsync(request, HttpResponse.BodyHandlers.ofString())
                .handle((answer, failure) -> {
                    long now = System.nanoTime();
                    return results.add(
                            answer == null
                                    ? new Result(from, 0, sentNs, now, String.valueOf(failure), "")
                                    : new Result(
                                            from,
                                            answer.statusCode(),
                                            sentNs,
                                            now,
                                            answer.body(),
                                            answer.headers()
                                                    .firstValue("Retry-After")
                                                    .orElse("")));
                }));
    }

    /** What was answered so far. */
    List<Result> results() {
        return List.copyOf(results);
    }

    /** Offers no more, and waits for the answers. */
    void stop() {
        stopping = true;
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
        CompletableFuture.allOf(underWay.toArray(CompletableFuture[]::new)).join();
    }

    @Override
    public void close() {
        stopping = true;
    }
}
