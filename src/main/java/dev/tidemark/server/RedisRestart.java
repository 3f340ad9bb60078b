package dev.tidemark.server;

import dev.tidemark.archive.ReservationFile;
import dev.tidemark.livelog.RedisFacts;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Whether Redis may have lost, without a trace, the newest of what it had acknowledged to our predecessor. */
final class RedisRestart {
    private static final Logger LOG = LoggerFactory.getLogger(RedisRestart.class);

    private RedisRestart() {}

    /**
     * Events that were acknowledged at times below this one may be lost behind the last one found, Unix milliseconds; 0 if none may. After
     * a clean stop everything was folded; a Redis that runs since then has lost nothing; one that syncs always loses nothing.
     *
     * @param before what the predecessor left; null if there was none
     */
    static long lostBelowMs(ReservationFile.@Nullable Reservation before, RedisFacts redis) {
        if (before == null) {
            return 0;
        }
        boolean sameRun = Objects.equals(before.redisRunId(), redis.runId());
        if (before.clean() || sameRun || redis.syncsAlways()) {
            return before.lostBelowMs();
        }
        LOG.warn(
                "Redis was restarted after the server was, and doesn't sync always: what it acknowledged last may be lost");
        return Math.max(before.lostBelowMs(), before.highMs());
    }
}
