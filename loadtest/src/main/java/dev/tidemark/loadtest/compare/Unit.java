package dev.tidemark.loadtest.compare;

import java.util.Locale;

/** What a figure counts. */
enum Unit {
    EVENTS("events/s"),
    REQUESTS("requests/s"),
    DELIVERIES("deliveries/s"),
    MILLISECONDS("ms"),
    SECONDS("s"),
    PERCENT("%");

    private final String sign;

    Unit(String sign) {
        this.sign = sign;
    }

    /** With its unit. */
    String shown(double value) {
        return number(value) + " " + sign;
    }

    /** Without its unit. */
    String number(double value) {
        String format = switch (this) {
            case EVENTS, REQUESTS, DELIVERIES -> "%,.0f";
            case MILLISECONDS -> "%.3f";
            case SECONDS, PERCENT -> "%.2f";
        };
        return String.format(Locale.ROOT, format, value);
    }
}
