package dev.tidemark.event;

import java.util.List;

/**
 * How far the check of a stream's archive is.
 *
 * @param findings what was found since the last progress
 * @param end whether that was all
 * @param files checked so far, also in part
 * @param bytes checked so far
 * @param bytesTotal about so many there are; 0 until that is known
 * @param events counted so far
 * @param first oldest event; {@link Position#ZERO} if there is none
 * @param last newest event so far
 */
public record CheckProgress(
        List<Finding> findings,
        boolean end,
        int files,
        long bytes,
        long bytesTotal,
        long events,
        Position first,
        Position last) {
    public CheckProgress {
        findings = List.copyOf(findings);
    }
}
