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

    String shown(double value) {
        String format = switch (this) {
            case EVENTS, REQUESTS, DELIVERIES -> "%,.0f %s";
            case MILLISECONDS -> "%.3f %s";
            case SECONDS, PERCENT -> "%.2f %s";
        };
        return String.format(Locale.ROOT, format, value, sign);
    }
}
