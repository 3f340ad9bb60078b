package dev.tidemark.loadtest.compare;

/** What is measured of a system: one figure a round. */
enum Measure {
    APPEND_BATCHES(1, "append, batches of 500 events", Unit.EVENTS),
    APPEND_SINGLE(2, "append, one event a request", Unit.EVENTS),
    TAIL_10(3, "tail, n = 10", Unit.REQUESTS),
    TAIL_100(3, "tail, n = 100", Unit.REQUESTS),
    TAIL_10_P50(3, "tail at 500/s, n = 10, p50", Unit.MILLISECONDS),
    TAIL_10_P99(3, "tail at 500/s, n = 10, p99", Unit.MILLISECONDS),
    TAIL_100_P50(3, "tail at 500/s, n = 100, p50", Unit.MILLISECONDS),
    TAIL_100_P99(3, "tail at 500/s, n = 100, p99", Unit.MILLISECONDS),
    BUSY_TAIL_10_P50(3, "tail at 500/s beside 5,000 events/s, n = 10, p50", Unit.MILLISECONDS),
    BUSY_TAIL_10_P99(3, "tail at 500/s beside 5,000 events/s, n = 10, p99", Unit.MILLISECONDS),
    BUSY_TAIL_100_P50(3, "tail at 500/s beside 5,000 events/s, n = 100, p50", Unit.MILLISECONDS),
    BUSY_TAIL_100_P99(3, "tail at 500/s beside 5,000 events/s, n = 100, p99", Unit.MILLISECONDS),
    TO_SUBSCRIBER_P50(4, "append to subscriber at 5,000 events/s, p50", Unit.MILLISECONDS),
    TO_SUBSCRIBER_P99(4, "append to subscriber at 5,000 events/s, p99", Unit.MILLISECONDS),
    FAN_OUT_100(5, "fan-out over WebSocket, 100 subscribers", Unit.DELIVERIES),
    FAN_OUT_1000(5, "fan-out over WebSocket, 1,000 subscribers", Unit.DELIVERIES),
    APPEND_ALONE_P50(7, "append alone, p50", Unit.MILLISECONDS),
    APPEND_ALONE_P99(7, "append alone, p99", Unit.MILLISECONDS),
    APPEND_BESIDE_P50(7, "append beside tails of n = 1,000 at 200/s, p50", Unit.MILLISECONDS),
    APPEND_BESIDE_P99(7, "append beside tails of n = 1,000 at 200/s, p99", Unit.MILLISECONDS);

    private final int bar;
    private final String title;
    private final Unit unit;

    Measure(int bar, String title, Unit unit) {
        this.bar = bar;
        this.title = title;
        this.unit = unit;
    }

    /** Number of the bar that it is for. */
    int bar() {
        return bar;
    }

    String title() {
        return title;
    }

    Unit unit() {
        return unit;
    }
}
