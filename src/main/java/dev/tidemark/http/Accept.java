package dev.tidemark.http;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Which form of an answer a client wants, by its {@code Accept} header. */
enum Accept {
    JSON(List.of("application/json")),
    NDJSON(List.of("application/x-ndjson", "application/ndjson", "application/jsonl")),
    EVENT_STREAM(List.of("text/event-stream"));

    @SuppressWarnings("ImmutableEnumChecker") // List.of is
    private final List<String> mediaTypes;

    Accept(List<String> mediaTypes) {
        this.mediaTypes = mediaTypes;
    }

    /** The media type that answers of this form have. */
    String mediaType() {
        return mediaTypes.get(0);
    }

    /**
     * The form with the highest quality; among equals a named type goes before a range, then the first named. JSON if the header is
     * absent or names none of them.
     */
    static Accept of(@Nullable String header) {
        if (header == null || header.equals("*/*") || header.equals("application/json")) {
            return JSON;
        }
        Accept best = JSON;
        double bestWeight = 0;
        for (String range : header.split(",", -1)) {
            String[] parts = range.split(";", -1);
            String type = parts[0].trim().toLowerCase(Locale.ROOT);
            Accept form = named(type);
            double weight = quality(parts) + (form == null ? 0 : 0.0001);
            boolean anything = type.equals("*/*") || type.equals("application/*");
            if (quality(parts) > 0 && weight > bestWeight && (form != null || anything)) {
                best = form == null ? JSON : form;
                bestWeight = weight;
            }
        }
        return best;
    }

    private static @Nullable Accept named(String type) {
        for (Accept form : values()) {
            if (form.mediaTypes.contains(type)) {
                return form;
            }
        }
        return null;
    }

    private static double quality(String[] parts) {
        for (int i = 1; i < parts.length; i++) {
            String part = parts[i].trim();
            if (part.startsWith("q=") || part.startsWith("Q=")) {
                try {
                    return Double.parseDouble(part.substring(2).trim());
                } catch (NumberFormatException e) {
                    return 0;
                }
            }
        }
        return 1;
    }
}
