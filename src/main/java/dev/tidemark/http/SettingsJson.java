package dev.tidemark.http;

import dev.tidemark.event.Problem;
import dev.tidemark.event.Problem.Kind;
import dev.tidemark.event.Utf8;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.Json;
import io.vertx.core.json.JsonObject;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The body of a {@code PUT} on a stream: one JSON object of settings. */
final class SettingsJson {
    private SettingsJson() {}

    /**
     * Names to strings, whole numbers or null; none for an empty body.
     *
     * @throws Problem bad body
     */
    static Map<String, @Nullable Object> parse(Buffer body) {
        if (body.length() == 0) {
            return Map.of();
        }
        Map<String, @Nullable Object> settings = new LinkedHashMap<>();
        for (Map.Entry<String, Object> entry : object(body).getMap().entrySet()) {
            @Nullable Object value = entry.getValue();
            boolean fits =
                    value == null || value instanceof String || value instanceof Integer || value instanceof Long;
            if (!fits) {
                throw new Problem(
                        Kind.BAD_BODY,
                        "setting '" + Problem.quote(entry.getKey())
                                + "' must be a string, a whole number or null (which resets it)");
            }
            settings.put(entry.getKey(), value);
        }
        return settings;
    }

    private static JsonObject object(Buffer body) {
        byte[] bytes = body.getBytes();
        if (!Utf8.isValid(bytes, 0, bytes.length)) {
            throw new Problem(Kind.BAD_BODY, "the settings aren't valid UTF-8");
        }
        Object parsed;
        try {
            parsed = Json.decodeValue(body);
        } catch (DecodeException e) {
            throw new Problem(Kind.BAD_BODY, "the settings aren't valid JSON; allowed is an object of settings")
                    .causedBy(e);
        }
        if (parsed instanceof JsonObject object) {
            return object;
        }
        throw new Problem(Kind.BAD_BODY, "the settings must be one JSON object");
    }
}
