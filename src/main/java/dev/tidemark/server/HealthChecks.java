package dev.tidemark.server;

import dev.tidemark.event.Clock;
import dev.tidemark.fold.FoldStatus;
import dev.tidemark.fold.Folds;
import dev.tidemark.http.Health;
import dev.tidemark.keeper.KeeperGroup;
import dev.tidemark.keeper.LiveStream;
import dev.tidemark.keeper.StreamDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;

/** The named checks of {@code /health/ready}. Any thread; {@link #lookAtDisk} blocks and runs on a worker. */
final class HealthChecks implements Health {
    private static final long DISK_RESERVE_BYTES = 64L << 20;

    private final KeeperGroup keepers;
    private final Folds folds;
    private final StreamDirectory streams;
    private final ServerMetrics metrics;
    private final Path data;
    private final RedisWarnings redisWarnings;
    private final BooleanSupplier stopping;
    private final Clock clock;
    private final long startedMs;
    /** Since when a check has had its status, by name. */
    private final Map<String, Check> last = new ConcurrentHashMap<>();

    private volatile String diskTrouble = "";

    HealthChecks(
            KeeperGroup keepers,
            Folds folds,
            StreamDirectory streams,
            ServerMetrics metrics,
            Path data,
            RedisWarnings redisWarnings,
            BooleanSupplier stopping,
            Clock clock) {
        this.keepers = keepers;
        this.folds = folds;
        this.streams = streams;
        this.metrics = metrics;
        this.data = data;
        this.redisWarnings = redisWarnings;
        this.stopping = stopping;
        this.clock = clock;
        this.startedMs = clock.wallMs();
    }

    @Override
    public String metrics() {
        return metrics.scrape();
    }

    @Override
    public List<Check> checks() {
        return List.of(redis(), fold(), disk(), keepers());
    }

    private Check redis() {
        String trouble = keepers.trouble();
        if (!trouble.isEmpty()) {
            return check("redis", Status.FAILING, trouble);
        }
        List<String> warnings = redisWarnings.now();
        return warnings.isEmpty()
                ? check("redis", Status.OK, "")
                : check("redis", Status.WARNING, String.join("; ", warnings));
    }

    private Check fold() {
        long failing = 0;
        long overRetained = 0;
        long sinceMs = Long.MAX_VALUE;
        String example = "";
        for (LiveStream stream : streams.view()) {
            FoldStatus status = folds.status(stream);
            if (status.isFailing()) {
                failing++;
                overRetained += status.overRetained();
                sinceMs = Math.min(sinceMs, status.failingSinceMs());
                example = stream.name() + ": " + status.reason();
            }
        }
        if (failing == 0) {
            return check("fold", Status.OK, "");
        }
        String detail = "folding fails for " + failing + " streams, " + overRetained
                + " events are over-retained, nothing is trimmed; for example " + example;
        last.put("fold", new Check("fold", Status.FAILING, detail, sinceMs));
        return new Check("fold", Status.FAILING, detail, sinceMs);
    }

    private Check disk() {
        String trouble = diskTrouble;
        return check("disk", trouble.isEmpty() ? Status.OK : Status.FAILING, trouble);
    }

    private Check keepers() {
        return stopping.getAsBoolean()
                ? check("keepers", Status.FAILING, "the server is stopping")
                : check("keepers", Status.OK, "");
    }

    private Check check(String name, Status status, String detail) {
        Check before = last.get(name);
        long sinceMs = startedMs;
        if (before != null) {
            sinceMs = before.status() == status ? before.sinceMs() : clock.wallMs();
        }
        Check now = new Check(name, status, detail, sinceMs);
        last.put(name, now);
        return now;
    }

    /** Looks whether the data directory can be written and has room. */
    void lookAtDisk() {
        try {
            long free = Files.getFileStore(data).getUsableSpace();
            diskTrouble = free < DISK_RESERVE_BYTES
                    ? "only " + (free >> 20) + " MiB are free for " + data + "; folding needs "
                            + (DISK_RESERVE_BYTES >> 20)
                    : "";
        } catch (IOException e) {
            diskTrouble = "the data directory " + data + " can't be looked at: " + e.getMessage();
        }
    }
}
