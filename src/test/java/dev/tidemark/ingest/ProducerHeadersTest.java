package dev.tidemark.ingest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.Problem;
import dev.tidemark.event.Producer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("R28")
class ProducerHeadersTest {
    private static void assertRefused(ProducerHeaders headers, String parameter) {
        Problem problem = assertThrows(Problem.class, headers::producer);
        assertEquals(Problem.Kind.BAD_REQUEST, problem.kind());
        assertEquals(parameter, problem.fields().get("parameter"));
        assertTrue(problem.detail().contains(parameter), problem.detail());
    }

    private static ProducerHeaders numbered(@Nullable String id, @Nullable String epoch, @Nullable String seq) {
        return new ProducerHeaders(id, epoch, seq, null);
    }

    @Test
    void withoutAnyOfThemNobodyIsNamed() {
        assertNull(ProducerHeaders.NONE.producer());
    }

    @Test
    void allThreeNameAProducerAndAKeyStandsAlone() {
        assertEquals(
                new Producer("sensor 7", 2, 3), numbered("sensor 7", "2", "3").producer());
        assertEquals(
                new Producer("p", 0, (1L << 53) - 1),
                numbered("p", "00", "9007199254740991").producer());
        assertEquals(
                Producer.idempotencyKey("\"8e03978e-40d5\""),
                new ProducerHeaders(null, null, null, "\"8e03978e-40d5\"").producer());
        assertEquals(
                "x".repeat(255),
                new ProducerHeaders(null, null, null, "x".repeat(255))
                        .producer()
                        .id());
    }

    @Test
    void theOnesThatLackAreNamed() {
        assertRefused(numbered("p", null, null), "Producer-Epoch");
        assertRefused(numbered("p", "0", null), "Producer-Seq");
        assertRefused(numbered(null, "0", "0"), "Producer-Id");
        assertRefused(numbered(null, null, "0"), "Producer-Id");
    }

    @Test
    void aKeyTogetherWithAnyOfTheOthersIsRefused() {
        assertRefused(new ProducerHeaders("p", "0", "0", "k"), "Idempotency-Key");
        assertRefused(new ProducerHeaders(null, null, "0", "k"), "Idempotency-Key");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "-1", "+1", "1.0", "0x1", "1e3", "9007199254740992", "99999999999999999999", "\u0661", " 1"})
    void numbersThatAreNoneAreRefused(String number) {
        assertRefused(numbered("p", number, "0"), "Producer-Epoch");
        assertRefused(numbered("p", "0", number), "Producer-Seq");
    }

    @ParameterizedTest
    @CsvSource({"''", "sch\u00f6n", "a\u0001b", "tab\tbed"})
    void textsOfOtherCharactersAreRefused(String text) {
        assertRefused(numbered(text, "0", "0"), "Producer-Id");
        assertRefused(new ProducerHeaders(null, null, null, text), "Idempotency-Key");
    }

    @Test
    void textsThatAreTooLongAreRefused() {
        assertRefused(numbered("x".repeat(256), "0", "0"), "Producer-Id");
    }
}
