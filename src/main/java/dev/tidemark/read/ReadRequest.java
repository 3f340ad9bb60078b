package dev.tidemark.read;

import org.jspecify.annotations.Nullable;

/**
 * A range of a stream, as asked for; checked when it is read.
 *
 * @param after cursor or event id as sent, exclusive; null for the start
 * @param before cursor or event id as sent, exclusive; null for the tail
 * @param fromMs first {@code at} wanted, Unix milliseconds; null for no bound
 * @param toMs first {@code at} not wanted; null for no bound
 * @param limit most events wanted; {@link Long#MAX_VALUE} for no limit
 * @param descending newest first
 * @param view which events
 * @param continueOnGap whether to start at the earliest when something before it was removed, instead of failing with EXPIRED
 */
public record ReadRequest(
        @Nullable String after,
        @Nullable String before,
        @Nullable Long fromMs,
        @Nullable Long toMs,
        long limit,
        boolean descending,
        View view,
        boolean continueOnGap) {}
