package dev.tidemark.ingest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.Problem;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

class BodyFormatTest {
    @ParameterizedTest
    @CsvSource({
        "application/json,                              JSON,      application/json",
        "Application/JSON; charset=UTF-8,               JSON,      application/json",
        "application/vnd.api+json;version=1,            JSON,      application/vnd.api+json",
        "application/x-ndjson,                          LINES,     application/json",
        "application/ndjson;charset=utf-8,              LINES,     application/json",
        "application/JSONL,                             LINES,     application/json",
        "application/vnd.tidemark.events+ndjson,        ENVELOPES, application/json",
        "text/plain;charset=utf-8,                      RAW,       text/plain;charset=utf-8",
        "TEXT/csv; header=present,                      RAW,       text/csv; header=present",
        "application/octet-stream,                      RAW,       application/octet-stream",
    })
    void goesByTheContentType(String header, BodyFormat.Form form, String type) {
        assertEquals(new BodyFormat(form, type), BodyFormat.of(header));
    }

    @Test
    void withoutATypeTheBodyIsBytes() {
        assertEquals(new BodyFormat(BodyFormat.Form.RAW, "application/octet-stream"), BodyFormat.of(null));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "application/x-www-form-urlencoded",
                "Application/X-WWW-Form-Urlencoded; charset=utf-8",
                "multipart/form-data; boundary=x"
            })
    void refusesFormsWithAHint(String header) {
        Problem problem = assertThrows(Problem.class, () -> BodyFormat.of(header));
        assertEquals(Problem.Kind.UNSUPPORTED_TYPE, problem.kind());
        assertTrue(problem.detail().contains("application/x-ndjson")
                && problem.detail().contains("curl"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "application/json; charset=utf-16",
                "text/plain; charset=\"ISO-8859-1\"",
                "",
                "json",
                "a/b/c",
                "text/",
                "/plain",
                "text/plain\u00e9"
            })
    void refusesOtherCharsetsAndWhatIsNoType(String header) {
        assertEquals(
                Problem.Kind.UNSUPPORTED_TYPE,
                assertThrows(Problem.class, () -> BodyFormat.of(header)).kind());
    }

    @ParameterizedTest
    @Tag("R52")
    @NullSource
    @ValueSource(strings = {"", "identity", " Identity "})
    void withoutCodingTheBodyIsAsItCame(@org.jspecify.annotations.Nullable String header) {
        assertEquals(ContentCoding.IDENTITY, ContentCoding.of(header));
    }

    @ParameterizedTest
    @Tag("R52")
    @ValueSource(
            strings = {"br", "deflate", "zstd", "gzip, gzip", "gzip,identity", "identity, gzip", "compress", "gzip;q=1"
            })
    void refusesOtherCodings(String header) {
        assertEquals(
                Problem.Kind.UNSUPPORTED_TYPE,
                assertThrows(Problem.class, () -> ContentCoding.of(header)).kind());
    }

    @ParameterizedTest
    @Tag("R52")
    @ValueSource(strings = {"gzip", "GZIP", "x-gzip", " gzip "})
    void knowsGzip(String header) {
        assertEquals(ContentCoding.GZIP, ContentCoding.of(header));
    }
}
