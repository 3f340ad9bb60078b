package dev.tidemark.ingest;

import dev.tidemark.event.Problem;
import dev.tidemark.event.Producer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The headers that make a request exactly-once, as sent; null where there was none.
 *
 * @param id {@code Producer-Id}
 * @param epoch {@code Producer-Epoch}
 * @param seq {@code Producer-Seq}
 * @param key {@code Idempotency-Key}
 */
public record ProducerHeaders(
        @Nullable String id,
        @Nullable String epoch,
        @Nullable String seq,
        @Nullable String key) {
    public static final String ID = "Producer-Id";
    public static final String EPOCH = "Producer-Epoch";
    public static final String SEQ = "Producer-Seq";
    public static final String KEY = "Idempotency-Key";
    public static final ProducerHeaders NONE = new ProducerHeaders(null, null, null, null);

    /** Greatest length of a producer id and of an idempotency key. */
    static final int TEXT_LENGTH_MAX = 255;
    /** Greatest epoch and seq, so that every JSON reader can hold them: 2^53 - 1. */
    static final long NUMBER_MAX = (1L << 53) - 1;

    private static final int DIGITS_MAX = 16;

    /**
     * Who sends the request; null if it isn't said.
     *
     * @throws Problem naming the header that is wrong or lacks, and what is allowed
     */
    @Nullable
    Producer producer() {
        if (id == null && epoch == null && seq == null) {
            return key == null ? null : Producer.idempotencyKey(text(KEY, key));
        }
        if (key != null) {
            throw Problem.badParameter(
                    KEY, "header " + KEY + " can't stand together with " + ID + ", " + EPOCH + " and " + SEQ);
        }
        if (id == null || epoch == null || seq == null) {
            throw incomplete();
        }
        return new Producer(text(ID, id), number(EPOCH, epoch), number(SEQ, seq));
    }

    private Problem incomplete() {
        List<String> missing = new ArrayList<>();
        if (id == null) {
            missing.add(ID);
        }
        if (epoch == null) {
            missing.add(EPOCH);
        }
        if (seq == null) {
            missing.add(SEQ);
        }
        return Problem.badParameter(
                missing.get(0),
                "header " + String.join(" and ", missing) + " is missing: " + ID + ", " + EPOCH + " and " + SEQ
                        + " come together");
    }

    private static String text(String header, String value) {
        boolean fits = !value.isEmpty() && value.length() <= TEXT_LENGTH_MAX;
        for (int i = 0; fits && i < value.length(); i++) {
            fits = value.charAt(i) >= ' ' && value.charAt(i) <= '~';
        }
        if (!fits) {
            throw Problem.badParameter(
                    header,
                    "header " + header + " is '" + Problem.quote(value) + "'; allowed are 1 to " + TEXT_LENGTH_MAX
                            + " printable ASCII characters");
        }
        return value;
    }

    private static long number(String header, String value) {
        boolean digits = !value.isEmpty() && value.length() <= DIGITS_MAX;
        for (int i = 0; digits && i < value.length(); i++) {
            digits = value.charAt(i) >= '0' && value.charAt(i) <= '9';
        }
        long number = digits ? Long.parseLong(value) : -1;
        if (number < 0 || number > NUMBER_MAX) {
            throw Problem.badParameter(
                    header,
                    "header " + header + " is '" + Problem.quote(value) + "'; allowed are decimal digits, 0 to "
                            + NUMBER_MAX);
        }
        return number;
    }
}
