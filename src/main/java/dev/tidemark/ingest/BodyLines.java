package dev.tidemark.ingest;

import dev.tidemark.event.ByteScan;

/**
 * Goes through the lines of a body that aren't blank. A line ends at LF, CRLF or the end of the body; its end is no part of it.
 * Physical lines are counted, blank ones too.
 */
final class BodyLines {
    private final byte[] body;
    private int number;
    private int next;
    private int start;
    private int end;

    BodyLines(byte[] body) {
        this.body = body;
    }

    /** Goes to the next line; false if there is none. */
    boolean advance() {
        while (next < body.length) {
            number++;
            start = next;
            int lineFeed = ByteScan.lineFeed(body, start, body.length);
            next = lineFeed + 1;
            end = lineFeed > start && body[lineFeed - 1] == '\r' ? lineFeed - 1 : lineFeed;
            if (!isBlank(start, lineFeed)) {
                return true;
            }
        }
        return false;
    }

    private boolean isBlank(int from, int to) {
        int at = from;
        while (at < to && JsonScanner.isSpace(body[at])) {
            at++;
        }
        return at == to;
    }

    /** Number of this line in the body, from 1. */
    int number() {
        return number;
    }

    /** Index of its first byte. */
    int start() {
        return start;
    }

    /** Index behind its last byte. */
    int end() {
        return end;
    }
}
