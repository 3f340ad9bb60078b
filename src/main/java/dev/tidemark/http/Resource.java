package dev.tidemark.http;

import io.vertx.core.http.HttpMethod;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** What paths lead to, and the methods that each knows. */
enum Resource {
    HOME(HttpMethod.GET, HttpMethod.HEAD),
    LIVE(HttpMethod.GET, HttpMethod.HEAD),
    READY(HttpMethod.GET, HttpMethod.HEAD),
    METRICS(HttpMethod.GET, HttpMethod.HEAD),
    STREAMS(HttpMethod.GET, HttpMethod.HEAD),
    STREAM(HttpMethod.GET, HttpMethod.HEAD, HttpMethod.PUT, HttpMethod.DELETE),
    EVENTS(HttpMethod.GET, HttpMethod.HEAD, HttpMethod.POST),
    EVENT(HttpMethod.GET, HttpMethod.HEAD),
    TAIL(HttpMethod.GET, HttpMethod.HEAD),
    SUBSCRIBE(HttpMethod.GET),
    SEAM(HttpMethod.GET, HttpMethod.HEAD),
    AUDIT(HttpMethod.GET, HttpMethod.HEAD),
    FOLD(HttpMethod.POST),
    VERIFY(HttpMethod.POST);

    /** Where the stream's name stands in a path. */
    static final int NAME_SEGMENT = 2;
    /** Where an event's id stands in a path. */
    static final int ID_SEGMENT = 4;

    @SuppressWarnings("ImmutableEnumChecker") // List.of is
    private final List<HttpMethod> methods;

    Resource(HttpMethod... methods) {
        this.methods = List.of(methods);
    }

    /** Whether it belongs to one stream, whose name is in the path. */
    boolean ofStream() {
        return compareTo(STREAM) >= 0;
    }

    boolean allows(HttpMethod method) {
        return methods.contains(method);
    }

    /** For the {@code Allow} header. */
    String allowed() {
        return methods.stream().map(HttpMethod::name).collect(Collectors.joining(", ")) + ", OPTIONS";
    }

    /** Whether raw segments lead below one stream, known or not. */
    static boolean belowStream(List<String> segments) {
        return segments.size() > NAME_SEGMENT
                && segments.get(0).equals("v1")
                && segments.get(1).equals("streams");
    }

    /** What raw segments lead to; null if nothing. Every byte counts: no slash is added, dropped or merged. */
    static @Nullable Resource of(List<String> segments) {
        if (belowStream(segments)) {
            return switch (segments.size()) {
                case 3 -> STREAM;
                case 4 -> ofStream(segments.get(3));
                case 5 -> segments.get(3).equals("events") ? EVENT : null;
                default -> null;
            };
        }
        return switch (String.join("/", segments)) {
            case "" -> segments.isEmpty() ? HOME : null;
            case "health/live" -> LIVE;
            case "health/ready" -> READY;
            case "metrics" -> METRICS;
            case "v1/streams" -> STREAMS;
            default -> null;
        };
    }

    private static @Nullable Resource ofStream(String last) {
        return switch (last) {
            case "events" -> EVENTS;
            case "tail" -> TAIL;
            case "subscribe" -> SUBSCRIBE;
            case "seam" -> SEAM;
            case "audit" -> AUDIT;
            case "fold" -> FOLD;
            case "verify" -> VERIFY;
            default -> null;
        };
    }
}
