package dev.tidemark.server;

import dev.tidemark.event.Clock;
import dev.tidemark.fold.FoldStatus;
import dev.tidemark.fold.Folds;
import dev.tidemark.http.Health;
import dev.tidemark.keeper.IdReservation;
import dev.tidemark.keeper.KeeperGroup;
import dev.tidemark.keeper.LiveStream;
import dev.tidemark.keeper.StreamDirectory;
import dev.tidemark.read.Audits;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;

/** The named checks of {@code /health/ready}. Any thread; {@link #lookAtDisk} blocks and runs on a worker. */
final class HealthChecks implements Health {
    /** Bursts and starts put ids this far ahead of the clock rightly. */
    private static final long AHEAD_MS_MAX = 15_000;

    private final KeeperGroup keepers;
    private final IdReservation ids;
    private final Folds folds;
    private final StreamDirectory streams;
    private final ServerMetrics metrics;
    private final Audits audits;
    private final DiskWatch disk;
    private final RedisWarnings redisWarnings;
    private final BooleanSupplier stopping;
    private final Clock clock;
    private final long startedMs;
    /** Since when a check has had its status, by name. */
    private final Map<String, Check> last = new ConcurrentHashMap<>();

    HealthChecks(
            KeeperGroup keepers,
            IdReservation ids,
            Folds folds,
            StreamDirectory streams,
            ServerMetrics metrics,
            Audits audits,
            DiskWatch disk,
            RedisWarnings redisWarnings,
            BooleanSupplier stopping,
            Clock clock) {
        this.keepers = keepers;
        this.ids = ids;
        this.folds = folds;
        this.streams = streams;
        this.metrics = metrics;
        this.audits = audits;
        this.disk = disk;
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
        FoldTrouble trouble = new FoldTrouble(clock.wallMs());
        for (LiveStream stream : streams.view()) {
            FoldStatus status = folds.status(stream);
            if (status.isFailing()) {
                trouble.add(stream, status);
            }
        }
        if (trouble.isEmpty()) {
            return audits.mismatches() == 0
                    ? check("fold", Status.OK, "")
                    : check("fold", Status.WARNING, "events aren't accounted for: " + audits.detail());
        }
        String detail = trouble.detail();
        long sinceMs = trouble.sinceMs();
        last.put("fold", new Check("fold", Status.FAILING, detail, sinceMs));
        return new Check("fold", Status.FAILING, detail, sinceMs);
    }

    private Check disk() {
        DiskWatch.State state = disk.state();
        return check("disk", state.status(), state.detail());
    }

    private Check keepers() {
        if (stopping.getAsBoolean()) {
            return check("keepers", Status.FAILING, "the server is stopping");
        }
        List<String> warnings = new ArrayList<>();
        long aheadMs = ids.usedMs() - clock.wallMs();
        if (aheadMs > AHEAD_MS_MAX) {
            warnings.add("ids are " + aheadMs / 1_000 + " s ahead of the clock: it was set back, or was ahead before");
        }
        if (clock instanceof TestClock) {
            warnings.add(TestClock.what());
        }
        return warnings.isEmpty()
                ? check("keepers", Status.OK, "")
                : check("keepers", Status.WARNING, String.join("; ", warnings));
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
        disk.look();
    }
}
