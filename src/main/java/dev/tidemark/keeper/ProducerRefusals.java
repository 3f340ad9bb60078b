package dev.tidemark.keeper;

import dev.tidemark.event.Problem;
import dev.tidemark.event.Problem.Kind;
import dev.tidemark.event.Problem.Stored;
import dev.tidemark.event.Producer;

/** Why requests of producers are refused, in words, and in fields for programs: {@code expected_seq}, {@code epoch}, {@code max}. */
final class ProducerRefusals {
    private ProducerRefusals() {}

    private static String who(Producer producer) {
        return "producer '" + Problem.quote(producer.id()) + "'";
    }

    static Problem fenced(Producer producer, long epoch) {
        return new Problem(
                        Kind.PRODUCER_FENCED,
                        who(producer) + " has begun epoch " + epoch + "; " + producer.epoch() + " is over")
                .with("epoch", epoch)
                .with("stored", Stored.NO.text());
    }

    static Problem gap(Producer producer, long expected) {
        return new Problem(
                        Kind.SEQ_GAP,
                        "the next seq of " + who(producer) + " in epoch " + producer.epoch() + " is " + expected
                                + ", not " + producer.seq())
                .with("expected_seq", expected)
                .with("stored", Stored.NO.text());
    }

    static Problem expired(Producer producer, long newest) {
        return new Problem(
                        Kind.SEQ_EXPIRED,
                        "seq " + producer.seq() + " of " + who(producer) + " is older than the "
                                + ProducerHistory.REQUESTS_MAX + " requests that are remembered, up to " + newest)
                .with("expected_seq", newest + 1)
                .with("stored", Stored.UNKNOWN.text());
    }

    static Problem bodyChanged(Producer producer) {
        String what = producer.isIdempotencyKey()
                ? "idempotency key '" + Problem.quote(producer.id()) + "'"
                : "seq " + producer.seq() + " of " + who(producer);
        return new Problem(
                        Kind.BODY_CHANGED,
                        what + " was stored with another body, time or content type; a repetition must be the same")
                .with("stored", Stored.NO.text());
    }

    static Problem tooManyKeys(int max) {
        return new Problem(
                        Kind.TOO_MANY_KEYS,
                        max + " idempotency keys are remembered already; each is forgotten after "
                                + ProducerHistory.KEY_MS / 60_000 + " minutes")
                .with("max", max)
                .with("stored", Stored.NO.text());
    }
}
