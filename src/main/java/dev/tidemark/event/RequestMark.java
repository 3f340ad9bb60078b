package dev.tidemark.event;

/**
 * What the first event of a request with a {@link Producer} carries besides: by it a repetition is known, and answered as the first
 * time.
 *
 * @param body hash of the body
 * @param ids of all its events
 */
public record RequestMark(BodyHash body, RequestIds ids) {}
