package dev.tidemark.http;

import dev.tidemark.event.Limits;
import dev.tidemark.event.Problem;
import dev.tidemark.read.SubscribeRequest;
import dev.tidemark.read.SubscribeRequest.Slow;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * How a follower wants to be served.
 *
 * @param request where and how to follow
 * @param batch several events a WebSocket frame
 * @param heartbeatMs silence after which a heartbeat is sent
 */
record FollowParameters(SubscribeRequest request, boolean batch, long heartbeatMs) {
    private static final List<String> WEB_SOCKET =
            List.of("after", "tail", "view", "batch", "on_gap", "slow", "heartbeat");
    private static final List<String> EVENT_STREAM =
            List.of("after", "tail", "view", "on_gap", "slow", "heartbeat", "last_event_id");
    private static final int HEARTBEAT_SECONDS_MAX = 60;

    static FollowParameters ofWebSocket(@Nullable String query, long heartbeatMs) {
        Parameters parameters = Parameters.of(query, WEB_SOCKET);
        return of(parameters, parameters.text("after"), heartbeatMs);
    }

    /** @param lastEventId the {@code Last-Event-ID} header: what a browser resumes with, before anything in the query */
    static FollowParameters ofEventStream(@Nullable String query, @Nullable String lastEventId, long heartbeatMs) {
        Parameters parameters = Parameters.of(query, EVENT_STREAM);
        String resume = lastEventId == null || lastEventId.isEmpty() ? parameters.text("last_event_id") : lastEventId;
        if (resume != null) {
            return of(parameters, resume, heartbeatMs);
        }
        return of(parameters, parameters.text("after"), heartbeatMs);
    }

    private static FollowParameters of(Parameters parameters, @Nullable String after, long heartbeatMs) {
        int tail = (int) parameters.number("tail", -1, 0, Limits.TAIL_MAX);
        if (tail >= 0 && parameters.has("after")) {
            throw Problem.badParameter("tail", "parameters 'after' and 'tail' don't go together");
        }
        boolean resumes = after != null && !parameters.has("after");
        Slow slow = Slow.valueOf(
                parameters.choice("slow", "archive", "archive", "skip", "close").toUpperCase(Locale.ROOT));
        SubscribeRequest request = new SubscribeRequest(
                after == null && tail < 0 ? "latest" : after,
                resumes ? -1 : tail,
                parameters.view(),
                parameters.choice("on_gap", "continue", "continue", "close").equals("close"),
                slow);
        return new FollowParameters(
                request,
                parameters.flag("batch", false),
                parameters.has("heartbeat")
                        ? parameters.number("heartbeat", 1, 1, HEARTBEAT_SECONDS_MAX) * 1_000
                        : heartbeatMs);
    }
}
