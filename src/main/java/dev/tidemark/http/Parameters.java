package dev.tidemark.http;

import dev.tidemark.event.Problem;
import dev.tidemark.read.View;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The query of a request, strictly: a parameter that the route doesn't know, one given twice, an empty value or a value out of range
 * is a bad request that names it. Nothing falls back to a default that wasn't asked for.
 */
final class Parameters {
    private static final int NUMBER_DIGITS_MAX = 18;

    private final List<String> names = new ArrayList<>(4);
    private final List<String> values = new ArrayList<>(4);

    private Parameters() {}

    /** @param allowed every name that the route knows */
    static Parameters of(@Nullable String query, List<String> allowed) {
        Parameters parameters = new Parameters();
        if (query == null) {
            return parameters;
        }
        int start = 0;
        while (start <= query.length()) {
            int ampersand = query.indexOf('&', start);
            int end = ampersand < 0 ? query.length() : ampersand;
            if (end > start) {
                parameters.add(query.substring(start, end), allowed);
            }
            start = end + 1;
        }
        return parameters;
    }

    private void add(String pair, List<String> allowed) {
        int equals = pair.indexOf('=');
        String name = RequestTarget.decode(equals < 0 ? pair : pair.substring(0, equals), "query", true);
        if (!allowed.contains(name)) {
            throw Problem.badParameter(
                    name,
                    "unknown parameter '" + Problem.quote(name) + "'; "
                            + (allowed.isEmpty() ? "there is none here" : "allowed are " + String.join(", ", allowed)));
        }
        if (names.contains(name)) {
            throw Problem.badParameter(name, "parameter '" + name + "' is given twice");
        }
        String value = equals < 0 ? "" : RequestTarget.decode(pair.substring(equals + 1), name, true);
        if (value.isEmpty()) {
            throw Problem.badParameter(name, "parameter '" + name + "' has no value");
        }
        names.add(name);
        values.add(value);
    }

    boolean has(String name) {
        return names.contains(name);
    }

    /** The value, never empty; null if the parameter isn't there. */
    @Nullable
    String text(String name) {
        int index = names.indexOf(name);
        return index < 0 ? null : values.get(index);
    }

    /** Plain decimal digits, nothing else. */
    long number(String name, long otherwise, long min, long max) {
        String value = text(name);
        if (value == null) {
            return otherwise;
        }
        long number = isDigits(value) ? parseClamped(value) : -1;
        if (number < min || number > max) {
            throw Problem.badParameter(
                    name,
                    "parameter '" + name + "' is '" + Problem.quote(value) + "'; allowed is a whole number from " + min
                            + (max == Long.MAX_VALUE ? " on" : " to " + max) + ", in plain digits");
        }
        return number;
    }

    private static long parseClamped(String digits) {
        int start = 0;
        while (start < digits.length() - 1 && digits.charAt(start) == '0') {
            start++;
        }
        return digits.length() - start > NUMBER_DIGITS_MAX
                ? Long.MAX_VALUE
                : Long.parseLong(digits, start, digits.length(), 10);
    }

    static boolean isDigits(String text) {
        if (text.isEmpty()) {
            return false;
        }
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c < '0' || c > '9') {
                return false;
            }
        }
        return true;
    }

    boolean flag(String name, boolean otherwise) {
        return choice(name, otherwise ? "true" : "false", "true", "false").equals("true");
    }

    /** One of {@code allowed}, as written. */
    String choice(String name, String otherwise, String... allowed) {
        String value = text(name);
        if (value == null) {
            return otherwise;
        }
        if (!List.of(allowed).contains(value)) {
            throw Problem.badParameter(
                    name,
                    "parameter '" + name + "' is '" + Problem.quote(value) + "'; allowed is "
                            + String.join(" or ", allowed));
        }
        return value;
    }

    View view() {
        return choice("view", "live", "live", "sealed").equals("sealed") ? View.SEALED : View.LIVE;
    }

    /** A time, RFC 3339 or Unix milliseconds, as Unix milliseconds not below 0; null if it isn't given. */
    @Nullable
    Long timeMs(String name) {
        String value = text(name);
        return value == null ? null : (Long) TimeText.parseMs(name, value);
    }
}
