package dev.tidemark.cli;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;

/**
 * Lines that go in one request, without the blank ones.
 *
 * @param lines at least one
 */
record Batch(List<Line> lines) {
    /** One line of the input. */
    static final class Line {
        private final long number;
        private final byte[] bytes;

        /**
         * @param number in the input, from 1
         * @param bytes without its end; not copied
         */
        Line(long number, byte[] bytes) {
            this.number = number;
            this.bytes = bytes;
        }

        long number() {
            return number;
        }

        byte[] bytes() {
            return bytes;
        }
    }

    Batch {
        lines = List.copyOf(lines);
    }

    /** Number, in the input, of line {@code n} of the body. */
    long numberOf(long n) {
        return lines.get((int) Math.max(1, Math.min(n, lines.size())) - 1).number();
    }

    long first() {
        return numberOf(1);
    }

    long last() {
        return numberOf(lines.size());
    }

    byte[] body() {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        for (Line line : lines) {
            body.writeBytes(line.bytes());
            body.write('\n');
        }
        return body.toByteArray();
    }

    /** The same lines in smaller batches; a line that is too large for itself stays alone. */
    List<Batch> split(int linesMax, long bytesMax) {
        List<Batch> parts = new ArrayList<>();
        List<Line> part = new ArrayList<>();
        long bytes = 0;
        for (Line line : lines) {
            long added = line.bytes().length + 1L;
            if (!part.isEmpty() && (part.size() >= linesMax || bytes + added > bytesMax)) {
                parts.add(new Batch(part));
                part = new ArrayList<>();
                bytes = 0;
            }
            part.add(line);
            bytes += added;
        }
        parts.add(new Batch(part));
        return parts;
    }
}
