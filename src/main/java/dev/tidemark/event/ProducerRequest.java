package dev.tidemark.event;

/**
 * What makes a request exactly-once.
 *
 * @param producer who sends it, and its number; or its idempotency key
 * @param body hash of its body
 */
public record ProducerRequest(Producer producer, BodyHash body) {}
