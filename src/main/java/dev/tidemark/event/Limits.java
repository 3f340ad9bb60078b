package dev.tidemark.event;

/**
 * What has a greatest size, in one place. The constants are fixed; the components can be configured, and their relations are
 * checked here.
 *
 * @param eventBytesMax greatest payload of one event
 * @param bodyBytesMax greatest decoded body of one request
 * @param batchEventsMax most events in one request
 * @param pageBytesMax greatest answer that is not streamed; above it an answer ends early and says so
 */
public record Limits(int eventBytesMax, int bodyBytesMax, int batchEventsMax, int pageBytesMax) {
    public static final int STREAM_NAME_BYTES_MAX = 200;
    public static final int CONTENT_TYPE_BYTES_MAX = 200;
    public static final int JSON_DEPTH_MAX = 500;
    /** A chunk's slab: small enough not to be a humongous object for the garbage collector. */
    public static final int SLAB_BYTES_MAX = 256 << 10;
    /** A slice of the fold. */
    public static final int SLICE_EVENTS_MAX = 10_000;

    public static final int SLICE_BYTES_MAX = 8 << 20;

    public static final int TAIL_DEFAULT = 10;
    public static final int TAIL_MAX = 10_000;
    public static final int READ_DEFAULT = 1_000;
    public static final int READ_JSON_MAX = 10_000;
    public static final int STRIPES_MAX = 1 << EventId.NODE_BITS;
    /** Greatest event that the archive's block size carries (an excerpt is at most a quarter of a block), less its header. */
    public static final int EVENT_BYTES_CEILING = (16 << 20) - (64 << 10);

    public static final Limits DEFAULT = new Limits(1 << 20, 16 << 20, 10_000, 16 << 20);

    public Limits {
        check("limits.event_bytes", eventBytesMax, 1, EVENT_BYTES_CEILING);
        check("limits.body_bytes", bodyBytesMax, eventBytesMax, 256 << 20);
        check("limits.batch_events", batchEventsMax, 1, 100_000);
        check("page_max_bytes", pageBytesMax, 4L * eventBytesMax / 3 + 4096, 1 << 30);
    }

    private static void check(String key, long value, long min, long max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(key + " is " + value + "; allowed is " + min + " to " + max);
        }
    }
}
