package dev.tidemark.ingest;

import dev.tidemark.event.ContentType;
import dev.tidemark.event.Problem;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * How a body is read, by its content type.
 *
 * @param form what the body holds
 * @param type content type of the events in it; envelopes may name their own
 */
record BodyFormat(Form form, String type) {
    /** What a body holds. */
    enum Form {
        /** One event: a JSON value, kept as sent. */
        JSON,
        /** One event of JSON a line. */
        LINES,
        /** One envelope a line. */
        ENVELOPES,
        /** One event of any bytes. */
        RAW
    }

    /** Headers that were read before; writers send the same few again and again. */
    private static final Map<String, BodyFormat> KNOWN = new ConcurrentHashMap<>();

    private static final int KNOWN_MAX = 64;

    static final String OCTET_STREAM = "application/octet-stream";

    private static final String FORM_URLENCODED = "application/x-www-form-urlencoded";

    /**
     * The format for a {@code Content-Type} header. Without one the body is one event of {@code application/octet-stream}, as
     * RFC 9110 (8.3) has it.
     *
     * @throws Problem {@link Problem.Kind#UNSUPPORTED_TYPE} for forms, charsets other than UTF-8 and what is no media type
     */
    static BodyFormat of(@Nullable String header) {
        if (header == null) {
            return new BodyFormat(Form.RAW, OCTET_STREAM);
        }
        BodyFormat known = KNOWN.get(header);
        if (known != null) {
            return known;
        }
        BodyFormat read = read(header);
        if (KNOWN.size() < KNOWN_MAX) {
            KNOWN.put(header, read);
        }
        return read;
    }

    private static BodyFormat read(String header) {
        String base = ContentType.base(header);
        if (base.equals(FORM_URLENCODED) || base.startsWith("multipart/")) {
            throw new Problem(
                    Problem.Kind.UNSUPPORTED_TYPE,
                    "forms (" + Problem.quote(base) + ") aren't taken; send the event itself with"
                            + " 'Content-Type: application/json' (one event) or 'application/x-ndjson' (one event a line);"
                            + " curl sends a form type unless -H or --json says otherwise");
        }
        String type = ContentType.normalize(header);
        return switch (base) {
            case "application/x-ndjson", "application/ndjson", "application/jsonl" ->
                new BodyFormat(Form.LINES, ContentType.JSON);
            case "application/vnd.tidemark.events+ndjson" -> new BodyFormat(Form.ENVELOPES, ContentType.JSON);
            default -> new BodyFormat(ContentType.isJson(type) ? Form.JSON : Form.RAW, type);
        };
    }
}
