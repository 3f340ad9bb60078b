package dev.tidemark.client;

import java.util.List;

/**
 * The newest events of a stream.
 *
 * @param events oldest first
 * @param complete false if a keeper didn't answer in time, or the answer reached its greatest size: then older events that were asked
 *     for may be missing
 * @param cursor behind all of them: who follows from it gets what comes next
 */
public record Tail(List<Event> events, boolean complete, String cursor) {}
