package dev.tidemark.loadtest.compare;

import java.util.Locale;
import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;

/**
 * What is asked of Tidemark: a figure of its own within a bound, or its ratio to another figure of the same run.
 *
 * @param other what it is compared with; null if the figure itself has to be within the bound
 * @param bound unit of the measure, or a ratio
 * @param aim what would be better still, 0 for nothing
 */
record Bar(Figures.Key own, Figures.@Nullable Key other, Kind kind, double bound, double aim) {
    /** On which side of the bound it must be. */
    enum Kind {
        AT_LEAST("≥"),
        AT_MOST("≤");

        private final String sign;

        Kind(String sign) {
            this.sign = sign;
        }
    }

    /** What became of it. */
    enum Outcome {
        REACHED("yes"),
        MISSED("**no**"),
        NOT_MEASURED("not measured");

        private final String word;

        Outcome(String word) {
            this.word = word;
        }

        String word() {
            return word;
        }
    }

    /** Whether something was reached, as it stands in the tables. */
    static String word(boolean reached) {
        return (reached ? Outcome.REACHED : Outcome.MISSED).word;
    }

    static Bar ratio(Figures.Key own, Figures.Key other, double atLeast, double aim) {
        return new Bar(own, other, Kind.AT_LEAST, atLeast, aim);
    }

    static Bar ratioAtMost(Figures.Key own, Figures.Key other, double atMost) {
        return new Bar(own, other, Kind.AT_MOST, atMost, 0);
    }

    static Bar atMost(Figures.Key own, double bound) {
        return new Bar(own, null, Kind.AT_MOST, bound, 0);
    }

    /** The figure, or the ratio, that has to be within the bound; empty if a figure of it is missing. */
    OptionalDouble value(Figures figures) {
        OptionalDouble left = figures.median(own);
        if (other == null || left.isEmpty()) {
            return left;
        }
        OptionalDouble right = figures.median(other);
        return right.isPresent() && right.getAsDouble() > 0
                ? OptionalDouble.of(left.getAsDouble() / right.getAsDouble())
                : OptionalDouble.empty();
    }

    Outcome outcome(Figures figures) {
        OptionalDouble value = value(figures);
        if (value.isEmpty()) {
            return Outcome.NOT_MEASURED;
        }
        boolean within = kind == Kind.AT_LEAST ? value.getAsDouble() >= bound : value.getAsDouble() <= bound;
        return within ? Outcome.REACHED : Outcome.MISSED;
    }

    /** Such as {@code ≥ 0.50 (aim 0.70)}. */
    String asked() {
        return kind.sign + " " + shown(bound) + (aim > 0 ? " (aim " + shown(aim) + ")" : "");
    }

    /** A ratio, or a figure with its unit. */
    String shown(double value) {
        return other == null ? own.measure().unit().shown(value) : String.format(Locale.ROOT, "%.2f", value);
    }
}
