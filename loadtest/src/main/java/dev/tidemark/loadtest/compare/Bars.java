package dev.tidemark.loadtest.compare;

import java.util.ArrayList;
import java.util.List;

/** The bars that a comparison is held against, for each setting of {@code appendfsync}. */
final class Bars {
    private Bars() {}

    static List<Bar> of(List<String> fsyncs) {
        List<Bar> bars = new ArrayList<>();
        for (String fsync : fsyncs) {
            appends(bars, fsync);
            tails(bars, fsync);
            subscribers(bars, fsync);
        }
        return bars;
    }

    private static Figures.Key own(Measure measure, String fsync) {
        return new Figures.Key(measure, Side.TIDEMARK, fsync);
    }

    private static Figures.Key redis(Measure measure, String fsync) {
        return new Figures.Key(measure, Side.REDIS_BENCHMARK, fsync);
    }

    private static Figures.Key peer(Measure measure, Side side) {
        return new Figures.Key(measure, side, "");
    }

    private static void appends(List<Bar> bars, String fsync) {
        Figures.Key batches = own(Measure.APPEND_BATCHES, fsync);
        bars.add(Bar.ratio(batches, redis(Measure.APPEND_BATCHES, fsync), 0.5, 0.7));
        bars.add(Bar.ratio(batches, peer(Measure.APPEND_BATCHES, Side.NATS_CLIENT), 1, 0));
        bars.add(Bar.ratio(batches, peer(Measure.APPEND_BATCHES, Side.KAFKA), 1, 0));
        bars.add(Bar.ratio(batches, peer(Measure.APPEND_BATCHES, Side.DURABLE_STREAMS), 1, 0));
        Figures.Key single = own(Measure.APPEND_SINGLE, fsync);
        bars.add(Bar.ratio(single, redis(Measure.APPEND_SINGLE, fsync), 0.4, 0.6));
        bars.add(Bar.ratio(single, peer(Measure.APPEND_SINGLE, Side.NATS_ONE_CLIENT), 4, 0));
        bars.add(Bar.ratio(single, peer(Measure.APPEND_SINGLE, Side.DURABLE_STREAMS), 20, 0));
    }

    private static void tails(List<Bar> bars, String fsync) {
        bars.add(Bar.ratio(own(Measure.TAIL_10, fsync), redis(Measure.TAIL_10, fsync), 0.65, 0.9));
        bars.add(Bar.ratio(own(Measure.TAIL_100, fsync), redis(Measure.TAIL_100, fsync), 3, 0));
        bars.add(Bar.atMost(own(Measure.TAIL_10_P50, fsync), 0.15));
        bars.add(Bar.atMost(own(Measure.TAIL_10_P99, fsync), 1));
        bars.add(Bar.atMost(own(Measure.TAIL_100_P50, fsync), 0.15));
        bars.add(Bar.atMost(own(Measure.TAIL_100_P99, fsync), 1));
        bars.add(Bar.atMost(own(Measure.BUSY_TAIL_10_P99, fsync), 3));
        bars.add(Bar.atMost(own(Measure.BUSY_TAIL_100_P99, fsync), 3));
    }

    private static void subscribers(List<Bar> bars, String fsync) {
        bars.add(Bar.atMost(own(Measure.TO_SUBSCRIBER_P50, fsync), 1));
        bars.add(Bar.atMost(own(Measure.TO_SUBSCRIBER_P99, fsync), 5));
        for (Measure measure : List.of(Measure.FAN_OUT_100, Measure.FAN_OUT_1000)) {
            bars.add(Bar.ratio(own(measure, fsync), peer(measure, Side.NATS_DRIVER), 1, 0));
            bars.add(Bar.ratio(
                    new Figures.Key(measure, Side.TIDEMARK_BATCHED, fsync), peer(measure, Side.NATS_DRIVER), 1, 0));
        }
        bars.add(Bar.ratioAtMost(own(Measure.APPEND_BESIDE_P99, fsync), own(Measure.APPEND_ALONE_P99, fsync), 1.5));
    }
}
