package dev.tidemark.client;

import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.ResponseInfo;
import java.net.http.HttpTimeoutException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** One server's HTTP API: addresses, single tries, and what their failures are called. Any thread. */
final class Http {
    static final String NDJSON = "application/x-ndjson";
    static final String EVENT_STREAM = "text/event-stream";
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
    private static final int PROBLEM_BYTES_MAX = 1 << 20;
    private static final String UNRESERVED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";

    private final URI base;
    private final @Nullable String token;
    private final boolean ownClient;
    private final AtomicReference<HttpClient> client;

    Http(URI base, @Nullable String token, @Nullable HttpClient client) {
        this.base = base;
        this.token = token;
        ownClient = client == null;
        this.client = new AtomicReference<>(client == null ? fresh() : client);
    }

    private static HttpClient fresh() {
        return HttpClient.newBuilder().connectTimeout(CONNECT_TIMEOUT).build();
    }

    /** The JDK's client that is used now. */
    HttpClient client() {
        return Objects.requireNonNull(client.get());
    }

    /**
     * Puts a new one in the place of one that may be dead, unless that was done already: an {@link Error}, as when memory is short, can
     * end the thread that serves all its connections. One that the user gave stays.
     */
    void renew(HttpClient dead) {
        if (ownClient && client.get() == dead) {
            boolean unused = client.compareAndSet(dead, fresh());
        }
    }

    // ---- addresses

    /** Path of a stream, its name one segment, and of what lies below it. */
    static String path(String stream, String below) {
        if (stream.isEmpty()) {
            throw new IllegalArgumentException("a stream's name isn't empty");
        }
        return "/v1/streams/" + encode(stream) + below;
    }

    /** Percent-encoding of all that isn't unreserved in RFC 3986. */
    static String encode(String text) {
        ByteBuffer utf8;
        try {
            utf8 = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException("half of a surrogate pair isn't a character", e);
        }
        StringBuilder encoded = new StringBuilder();
        while (utf8.hasRemaining()) {
            byte b = utf8.get();
            if (UNRESERVED.indexOf(b) >= 0) {
                encoded.append((char) b);
            } else {
                encoded.append(String.format("%%%02X", b & 0xff));
            }
        }
        return encoded.toString();
    }

    static String withQuery(String path, Map<String, String> parameters) {
        return parameters.isEmpty()
                ? path
                : parameters.entrySet().stream()
                        .map(parameter -> parameter.getKey() + "=" + encode(parameter.getValue()))
                        .collect(Collectors.joining("&", path + "?", ""));
    }

    HttpRequest.Builder request(String pathAndQuery) {
        HttpRequest.Builder builder =
                HttpRequest.newBuilder(URI.create(base + pathAndQuery)).version(HttpClient.Version.HTTP_1_1);
        return token == null ? builder : builder.header("Authorization", "Bearer " + token);
    }

    // ---- single tries

    /**
     * A request whose answer is small.
     *
     * @throws TidemarkException if there is no answer, or it isn't a success
     */
    byte[] call(HttpRequest.Builder request, Duration within) {
        HttpResponse<byte[]> response = send(request.timeout(within), HttpResponse.BodyHandlers.ofByteArray());
        if (response.statusCode() / 100 != 2) {
            throw TidemarkException.ofAnswer(response.statusCode(), retryAfterMs(response.headers()), response.body());
        }
        return response.body();
    }

    /** A request whose answer is read as it comes; no more is taken from the connection than is read, up to a buffer. */
    InputStream open(HttpRequest.Builder request, Duration headWithin) {
        HttpResponse<InputStream> response =
                send(request.timeout(headWithin), HttpResponse.BodyHandlers.ofInputStream());
        if (response.statusCode() == 200) {
            return response.body();
        }
        try (InputStream body = response.body()) {
            throw TidemarkException.ofAnswer(
                    response.statusCode(), retryAfterMs(response.headers()), body.readNBytes(PROBLEM_BYTES_MAX));
        } catch (IOException e) {
            throw lost(e);
        }
    }

    /**
     * Asks for an event stream; returns at once. All that comes goes to the inbox, also that nothing can come.
     *
     * @param with the JDK's client to use
     * @return to be cancelled when nothing more is wanted of it
     */
    CompletableFuture<HttpResponse<Void>> follow(HttpClient with, String pathAndQuery, Inbox inbox) {
        HttpRequest request =
                request(pathAndQuery).header("Accept", EVENT_STREAM).GET().build();
        CompletableFuture<HttpResponse<Void>> answer = with.sendAsync(request, inbox);
        var unused = answer.whenComplete((whole, failure) -> {
            if (failure != null) {
                inbox.onError(
                        failure instanceof CompletionException e && e.getCause() != null ? e.getCause() : failure);
            }
        });
        return answer;
    }

    /** What an answer whose body is still to come says of its failure. */
    static TidemarkException refusal(ResponseInfo head, InputStream body) throws IOException {
        return TidemarkException.ofAnswer(
                head.statusCode(), retryAfterMs(head.headers()), body.readNBytes(PROBLEM_BYTES_MAX));
    }

    private static long retryAfterMs(HttpHeaders headers) {
        String seconds = headers.firstValue("Retry-After").orElse("");
        return seconds.matches("\\d{1,6}") ? Long.parseLong(seconds) * 1_000 : 0;
    }

    private <T> HttpResponse<T> send(HttpRequest.Builder request, HttpResponse.BodyHandler<T> handler) {
        try {
            return client().send(request.build(), handler);
        } catch (IOException e) {
            throw lost(e);
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    // ---- failures

    static TidemarkException interrupted(InterruptedException e) {
        Thread.currentThread().interrupt();
        return TidemarkException.of(TidemarkException.INTERRUPTED, "interrupted while waiting", false, e);
    }

    /** What a connection that couldn't be made, or broke, is called. */
    TidemarkException lost(Throwable e) {
        if (e instanceof ConnectException || e instanceof HttpConnectTimeoutException) {
            return TidemarkException.of(TidemarkException.NOT_CONNECTED, "can't connect to " + base, true, e);
        }
        String what = e instanceof HttpTimeoutException
                ? "no answer in time from " + base
                : "the connection to " + base + " was lost" + (e.getMessage() == null ? "" : ": " + e.getMessage());
        return TidemarkException.of(TidemarkException.CONNECTION_LOST, what, true, e);
    }

    @Override
    public String toString() {
        return base.toString();
    }
}
