package dev.tidemark.server;

import dev.tidemark.fold.FoldStatus;
import dev.tidemark.fold.Folds;
import dev.tidemark.http.FollowFigures;
import dev.tidemark.http.HttpEdge;
import dev.tidemark.keeper.KeeperGroup;
import dev.tidemark.keeper.LiveStream;
import dev.tidemark.keeper.StreamDirectory;
import dev.tidemark.read.Audits;
import dev.tidemark.read.StreamReads;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

/** {@code /metrics}: figures that the parts of the server keep anyway, read when they are asked for. Any thread. */
final class ServerMetrics {
    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final StreamDirectory streams;
    private final Folds folds;

    /** @param edges may still grow */
    ServerMetrics(
            KeeperGroup keepers,
            StreamReads reads,
            StreamDirectory streams,
            Folds folds,
            Audits audits,
            List<HttpEdge> edges) {
        this.streams = streams;
        this.folds = folds;
        counter(
                "tidemark.tail.payloads.moved",
                "Payloads that keepers handed over for tails of streams with several stripes",
                keepers,
                KeeperGroup::payloadsMoved);
        counter("tidemark.late.rescued", "Late events that were stored and marked", keepers, KeeperGroup::lateRescued);
        counter(
                "tidemark.times.refused",
                "Events refused for the times that they, or others of their requests, claimed",
                keepers,
                KeeperGroup::timesRefused);
        counter(
                "tidemark.quarantined",
                "Entries of others that were moved from live logs to quarantine",
                keepers,
                KeeperGroup::quarantined);
        counter(
                "tidemark.memory.refused",
                "Appends that Redis refused because it is over its memory limit",
                keepers,
                KeeperGroup::refusedForMemory);
        counter("tidemark.folded.events", "Events archived and forced", this, ServerMetrics::foldedEvents);
        counter("tidemark.trimmed.events", "Entries trimmed from live logs", this, ServerMetrics::trimmedEvents);
        gauge(
                "tidemark.memory.bytes",
                "Heap bytes of timelines and of appends under way",
                keepers,
                KeeperGroup::memoryBytes);
        gauge("tidemark.subscribers", "Subscriptions under way", reads, StreamReads::subscriptions);
        gauge(
                "tidemark.subscribers.behind",
                "Subscriptions that are given history, or fell behind",
                reads,
                StreamReads::subscriptionsBehind);
        gauge(
                "tidemark.subscribers.waiting.bytes",
                "Bytes written for WebSocket subscribers that they haven't taken yet",
                edges,
                all -> sum(all, FollowFigures::waitingBytes));
        counter(
                "tidemark.subscribers.events",
                "Events given to subscribers",
                edges,
                all -> sum(all, FollowFigures::events));
        counter(
                "tidemark.subscribers.encoded.events",
                "Events put into frames for subscribers; those of one event loop share them",
                edges,
                all -> sum(all, FollowFigures::encodedEvents));
        // A gauge: it tells what is wrong now and falls when that is mended or announced; counted on, one loss would
        // grow with each look.
        gauge(
                "tidemark.audit.mismatches",
                "Ordinals that audits find neither archived, live, void nor announced as lost, or more than once",
                audits,
                Audits::mismatches);
        gauge("tidemark.streams", "Streams", streams, all -> all.view().size());
        gauge(
                "tidemark.over.retained.events",
                "Events that retention wants gone but that aren't folded",
                this,
                ServerMetrics::overRetained);
    }

    private <T> void counter(String name, String description, T of, ToDoubleFunction<T> figure) {
        FunctionCounter.builder(name, of, figure).description(description).register(registry);
    }

    private <T> void gauge(String name, String description, T of, ToDoubleFunction<T> figure) {
        Gauge.builder(name, of, figure)
                .description(description)
                .strongReference(true)
                .register(registry);
    }

    private static double sum(List<HttpEdge> edges, ToLongFunction<FollowFigures> figure) {
        long sum = 0;
        for (HttpEdge edge : edges) {
            sum += figure.applyAsLong(edge.followFigures());
        }
        return sum;
    }

    private double foldedEvents() {
        return sum(FoldStatus::foldedEvents);
    }

    private double trimmedEvents() {
        return sum(FoldStatus::trimmedEvents);
    }

    private double overRetained() {
        return sum(FoldStatus::overRetained);
    }

    private double sum(ToDoubleFunction<FoldStatus> figure) {
        double sum = 0;
        for (LiveStream stream : streams.view()) {
            sum += figure.applyAsDouble(folds.status(stream));
        }
        return sum;
    }

    /** In the text format of Prometheus. */
    String scrape() {
        return registry.scrape();
    }
}
