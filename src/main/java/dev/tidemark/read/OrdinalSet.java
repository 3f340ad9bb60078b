package dev.tidemark.read;

import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;

/** A set of ordinals, most of them close together. Not thread-safe. */
final class OrdinalSet {
    private static final int BLOCK_BITS = 12;

    private final Map<Long, BitSet> blocks = new HashMap<>();
    private long count;

    /** False if it was there. */
    boolean add(long ordinal) {
        BitSet block = blocks.computeIfAbsent(ordinal >>> BLOCK_BITS, b -> new BitSet());
        int bit = (int) (ordinal & ((1 << BLOCK_BITS) - 1));
        if (block.get(bit)) {
            return false;
        }
        block.set(bit);
        count++;
        return true;
    }

    long count() {
        return count;
    }
}
