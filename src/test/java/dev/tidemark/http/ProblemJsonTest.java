package dev.tidemark.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.Problem;
import dev.tidemark.event.Problem.Kind;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Errors as clients get them. */
class ProblemJsonTest {
    @Test
    void everyKindHasAStatusAndACloseCodeThatAgreeOnRetrying() {
        for (Kind kind : Kind.values()) {
            int status = ProblemJson.status(kind);
            assertTrue(status >= 400 && status < 600, kind.name());
            assertEquals(kind.retryable(), status == 503 || status == 429, kind.name());
            int code = ProblemJson.closeCode(kind);
            boolean reconnect = code >= 4000 && code < 4500;
            assertEquals(kind.retryable(), reconnect, kind.name());
            assertTrue(reconnect || code == 1011 || (code >= 4500 && code < 5000), kind.name());
        }
    }

    @Test
    void fieldsOfAllTypesAreWrittenBehindTheStandardOnes() {
        Problem problem = new Problem(Kind.TIME_REFUSED, "line \"2\"\nis \u0001 late \\ é")
                .with("lines", List.of(2, 5))
                .with("setting", "late")
                .with("oldest", 17L)
                .with("nested", List.of());
        JsonObject json = new JsonObject(ProblemJson.of(problem).body().toString());
        assertEquals("line \"2\"\nis \u0001 late \\ é", json.getString("detail"));
        assertEquals(422, json.getInteger("status"));
        assertEquals(5, json.getJsonArray("lines").getInteger(1));
        assertEquals(0, json.getJsonArray("nested").size());
        assertFalse(json.getBoolean("retryable"));
        assertEquals("urn:tidemark:problem:time_refused", json.getString("type"));
        JsonObject message =
                new JsonObject(ProblemJson.of(problem).message(null).toString());
        assertEquals("error", message.getString("type"));
        assertEquals("urn:tidemark:problem:time_refused", message.getString("problem"));
    }

    @Test
    void nothingOfADefectIsTold() {
        ProblemJson told = ProblemJson.of(new IllegalStateException("secret"));
        assertEquals(500, told.status());
        assertFalse(told.body().toString().contains("secret"));
    }
}
