package dev.tidemark.ingest;

import io.vertx.core.buffer.Buffer;
import org.jspecify.annotations.Nullable;

/**
 * One append as HTTP gives it.
 *
 * @param stream the decoded name, not yet checked
 * @param contentType header as sent; null if there was none
 * @param contentEncoding header as sent; null if there was none
 * @param eventTime {@code Event-Time} header as sent; null if there was none
 * @param body as sent, not yet decoded
 * @param rescueLate whether late events are stored even if the stream refuses them ({@code late=rescue})
 * @param producer headers that make it exactly-once
 * @param connection tells the connections of this process apart: what comes on one goes to one stripe
 * @param archived whether to answer only when folded and forced ({@code ack=archived})
 */
public record AppendRequest(
        String stream,
        @Nullable String contentType,
        @Nullable String contentEncoding,
        @Nullable String eventTime,
        Buffer body,
        boolean rescueLate,
        ProducerHeaders producer,
        String connection,
        boolean archived) {
    /** One that isn't exactly-once, of the only connection there is. */
    public AppendRequest(
            String stream,
            @Nullable String contentType,
            @Nullable String contentEncoding,
            @Nullable String eventTime,
            Buffer body,
            boolean archived) {
        this(stream, contentType, contentEncoding, eventTime, body, false, ProducerHeaders.NONE, "", archived);
    }
}
