package dev.tidemark.client;

import dev.tidemark.client.TidemarkException.Stored;
import dev.tidemark.client.wire.Backoff;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Tries a call until it succeeds, is refused for good, or its time is over. Only for calls that may be made twice. Any thread; each
 * call waits on the caller's.
 */
final class Tries {
    private static final long FIRST_WAIT_MS = 50;
    private static final long LONGEST_WAIT_MS = 2_000;

    private final Time time;
    private final Duration deadline;
    private final Duration answerWithin;

    /**
     * @param deadline for all tries of a call together; no further one is begun after it
     * @param answerWithin how long one try waits for its answer
     */
    Tries(Time time, Duration deadline, Duration answerWithin) {
        this.time = time;
        this.deadline = deadline;
        this.answerWithin = answerWithin;
    }

    /**
     * A call that stores nothing, or whose effect doesn't grow by doing it twice.
     *
     * @param call one try; it is told how long it may take
     * @throws TidemarkException the last try's
     */
    <T> T call(Function<Duration, T> call) {
        return run(call, false);
    }

    /**
     * An append.
     *
     * @param call one try; it is told how long it may take
     * @throws TidemarkException the last try's, with {@code stored}: that counts what earlier tries may have done
     */
    <T> T append(Function<Duration, T> call) {
        return run(call, true);
    }

    private <T> T run(Function<Duration, T> call, boolean append) {
        long endNs = time.nowNs() + deadline.toNanos();
        Backoff backoff = new Backoff(FIRST_WAIT_MS, LONGEST_WAIT_MS, new SplittableRandom());
        boolean maybeStored = false;
        while (true) {
            try {
                long leftNs = Math.max(1_000_000, endNs - time.nowNs());
                return call.apply(Duration.ofNanos(Math.min(leftNs, answerWithin.toNanos())));
            } catch (TidemarkException e) {
                maybeStored |= mayHaveStored(e);
                long waitMs = e.retryAfterMs() + backoff.nextMs();
                boolean over = endNs - time.nowNs() <= waitMs * 1_000_000;
                if (!e.retryable() || over) {
                    String why =
                            e.retryable() ? " (given up: no more tries within " + deadline.toMillis() + " ms)" : "";
                    throw e.with(append ? stored(maybeStored) : null, why);
                }
                pause(waitMs, append ? stored(maybeStored) : null);
            }
        }
    }

    /** Whether the call may have had its effect although it failed. */
    private static boolean mayHaveStored(TidemarkException e) {
        if (e.stored() != null) {
            return e.stored() == Stored.UNKNOWN;
        }
        return switch (e.type()) {
            case TidemarkException.NOT_CONNECTED -> false;
            case TidemarkException.CONNECTION_LOST, TidemarkException.INTERRUPTED, TidemarkException.NOT_UNDERSTOOD ->
                true;
            default -> e.status() >= 500;
        };
    }

    private static Stored stored(boolean maybe) {
        return maybe ? Stored.UNKNOWN : Stored.NO;
    }

    private void pause(long ms, @Nullable Stored stored) {
        try {
            time.sleepMs(ms);
        } catch (InterruptedException e) {
            throw Http.interrupted(e).with(stored, "");
        }
    }
}
