package dev.tidemark.ingest;

import dev.tidemark.event.StreamId;
import dev.tidemark.event.StreamSettings;

/**
 * A stream as listings show it.
 *
 * @param id name and generation
 * @param settings in force
 * @param createdMs Unix milliseconds
 */
public record StreamInfo(StreamId id, StreamSettings settings, long createdMs) {}
