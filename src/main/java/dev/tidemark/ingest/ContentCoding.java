package dev.tidemark.ingest;

import dev.tidemark.event.Problem;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** How a body is packed, by its {@code Content-Encoding}. */
enum ContentCoding {
    IDENTITY,
    GZIP;

    /** @throws Problem {@link Problem.Kind#UNSUPPORTED_TYPE} for anything but one of {@code gzip}, {@code x-gzip}, {@code identity} */
    static ContentCoding of(@Nullable String header) {
        String coding = header == null ? "" : header.trim().toLowerCase(Locale.ROOT);
        return switch (coding) {
            case "", "identity" -> IDENTITY;
            case "gzip", "x-gzip" -> GZIP;
            default ->
                throw new Problem(
                        Problem.Kind.UNSUPPORTED_TYPE,
                        "content encoding '" + Problem.quote(coding) + "' isn't supported; allowed is gzip, once");
        };
    }
}
