package dev.tidemark.client;

import dev.tidemark.client.wire.JsonFields;
import dev.tidemark.client.wire.JsonText;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A Tidemark server. Immutable; any thread. It holds nothing that has to be closed: connections that nobody uses end by themselves.
 *
 * <p>Calls wait on the caller's thread. They are tried again while that can help, with growing pauses and jitter, until
 * {@link Builder#deadline}; what then remains is a {@link TidemarkException}. Only {@link #subscribe} calls back, on a thread of each
 * subscription.
 */
public final class TidemarkClient {
    private final Http http;
    private final Tries tries;

    private TidemarkClient(Builder builder, Time time) {
        http = new Http(builder.base, builder.token, builder.httpClient);
        tries = new Tries(time, builder.deadline, builder.answerWithin);
    }

    /**
     * The server at a URL such as {@code http://127.0.0.1:8440}.
     *
     * @throws IllegalArgumentException if it isn't one
     */
    public static TidemarkClient at(String url) {
        return builder(url).build();
    }

    /**
     * As {@link #at}, with more to say.
     *
     * @throws IllegalArgumentException if it isn't a URL
     */
    public static Builder builder(String url) {
        return new Builder(url);
    }

    /** How to talk to a server. One thread. */
    public static final class Builder {
        private final URI base;
        private @Nullable String token;
        private @Nullable HttpClient httpClient;
        private Duration deadline = Duration.ofSeconds(30);
        private Duration answerWithin = Duration.ofSeconds(10);

        private Builder(String url) {
            String message = "'" + url + "' isn't a URL such as http://127.0.0.1:8440";
            try {
                base = new URI(url.replaceAll("/+$", ""));
            } catch (URISyntaxException e) {
                throw new IllegalArgumentException(message, e);
            }
            boolean isHttp = "http".equals(base.getScheme()) || "https".equals(base.getScheme());
            if (!isHttp || base.getHost() == null || base.getRawQuery() != null || base.getRawFragment() != null) {
                throw new IllegalArgumentException(message);
            }
        }

        /** Sent as {@code Authorization: Bearer …}. */
        public Builder token(String token) {
            if (!token.matches("[\\x21-\\x7e]+")) {
                throw new IllegalArgumentException("the token has characters that no token has");
            }
            this.token = token;
            return this;
        }

        /** The JDK's client to use, for instance with a trust store or a proxy of its own. */
        public Builder httpClient(HttpClient httpClient) {
            this.httpClient = httpClient;
            return this;
        }

        /** How long a call is tried, all tries together; 30 s by default. */
        public Builder deadline(Duration deadline) {
            this.deadline = positive(deadline);
            return this;
        }

        /** How long one try waits for its answer; 10 s by default. Far less than the deadline, or a lost answer uses it up. */
        public Builder answerWithin(Duration answerWithin) {
            this.answerWithin = positive(answerWithin);
            return this;
        }

        private static Duration positive(Duration duration) {
            if (duration.isNegative() || duration.isZero()) {
                throw new IllegalArgumentException("a duration above 0 is needed");
            }
            return duration;
        }

        public TidemarkClient build() {
            return build(Time.SYSTEM);
        }

        TidemarkClient build(Time time) {
            return new TidemarkClient(this, time);
        }
    }

    // ---- writing

    /** A new producer for a stream, under a random id. The stream is created by its first append, if the server allows that. */
    public Producer producer(String stream) {
        return producer(stream, "client-" + UUID.randomUUID(), 0);
    }

    /**
     * A producer under an id that it had before, for a program that takes over from an earlier run of itself: from the first append of
     * the higher epoch on, that run's appends are refused.
     *
     * @param id 1 to 200 characters of a header value
     * @param epoch from 0; above all that this id used before
     */
    public Producer producer(String stream, String id, long epoch) {
        if (epoch < 0) {
            throw new IllegalArgumentException("epochs begin at 0");
        }
        return new Producer(http, tries, stream, id, epoch);
    }

    // ---- reading

    /**
     * The newest events of a stream.
     *
     * @param n how many, 0 to 10,000; if there are fewer, all
     */
    public Tail tail(String stream, int n) {
        return tail(stream, n, View.LIVE);
    }

    /** As {@link #tail(String, int)}, in a view. */
    public Tail tail(String stream, int n, View view) {
        String path = Http.path(stream, "/tail?n=" + n + "&view=" + view.text());
        return understood(call(http.request(path).GET()), answer -> {
            JsonFields fields = JsonFields.of(answer);
            byte[] events = fields.raw("events");
            if (events == null) {
                throw new JsonFields.Malformed("no events in it");
            }
            return new Tail(
                    JsonFields.elements(events).stream()
                            .map(event -> Event.of(JsonFields.of(event), event))
                            .toList(),
                    fields.isTrue("complete"),
                    fields.text("cursor", ""));
        });
    }

    /**
     * A range of a stream, from archive and live log alike.
     *
     * @return when the answer has begun; to be closed
     * @throws TidemarkException for instance 404 without such a stream, 410 if the position asked for was removed ({@code earliest} is a
     *     field of it), 416 if it is ahead of the stream
     */
    public EventReader read(String stream, ReadRange range) {
        String path = Http.withQuery(Http.path(stream, "/events"), range.query());
        return new EventReader(
                http,
                range,
                tries.call(within -> http.open(
                        http.request(path).header("Accept", Http.NDJSON).GET(), within)));
    }

    /**
     * Follows a stream, across everything that ends a connection and may pass: restarts of the server, networks, proxies. Returns at
     * once.
     *
     * @return the running subscription, on a daemon thread of its own, which is where {@code subscriber} is called
     */
    public Subscription subscribe(String stream, Follow from, Subscriber subscriber) {
        Subscription subscription = new Subscription(http, Http.path(stream, "/events"), from, subscriber);
        subscription.start("tidemark-subscription " + stream);
        return subscription;
    }

    // ---- streams

    /**
     * Creates a stream, or merges settings into those it has.
     *
     * @param settings by name, such as {@code "live_max_events", 1000} or {@code "acceptance_window", "30s"}: strings, whole numbers and
     *     booleans; empty for the server's defaults
     */
    public void create(String stream, Map<String, ?> settings) {
        Map<String, Object> ordered = new LinkedHashMap<>(settings);
        String json = ordered.entrySet().stream()
                .map(setting -> JsonText.quote(setting.getKey()) + ":" + json(setting.getValue()))
                .collect(Collectors.joining(",", "{", "}"));
        HttpRequest.Builder request = http.request(Http.path(stream, ""))
                .header("Content-Type", "application/json")
                .PUT(HttpRequest.BodyPublishers.ofString(json, StandardCharsets.UTF_8));
        byte[] unused = call(request);
    }

    private static String json(Object value) {
        if (value instanceof Long || value instanceof Integer || value instanceof Boolean) {
            return value.toString();
        }
        if (value instanceof String text) {
            return JsonText.quote(text);
        }
        throw new IllegalArgumentException("a setting is a string, a whole number or a boolean, not " + value);
    }

    /** Deletes a stream with its live log and archive. That there is none is no failure: afterwards there is none. */
    public void delete(String stream) {
        try {
            byte[] unused = call(http.request(Http.path(stream, "")).DELETE());
        } catch (TidemarkException e) {
            if (e.status() != 404) {
                throw e;
            }
        }
    }

    /** Where the stream's archive ends and its live log begins. */
    public Seam seam(String stream) {
        return understood(
                call(http.request(Http.path(stream, "/seam")).GET()), answer -> Seam.of(JsonFields.of(answer)));
    }

    private byte[] call(HttpRequest.Builder request) {
        return tries.call(within -> http.call(request, within));
    }

    private static <T> T understood(byte[] answer, Function<byte[], T> reading) {
        try {
            return reading.apply(answer);
        } catch (JsonFields.Malformed e) {
            throw TidemarkException.of(
                    TidemarkException.NOT_UNDERSTOOD, "the answer isn't Tidemark's: " + e.getMessage(), false, e);
        }
    }
}
