package dev.tidemark.http;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** What is looked at now and then: with each tick a part of it has its turn, so that thousands of idle ones cost little. */
final class Turns<T> {
    /** A deadline is noticed so many ticks late at most. */
    private static final int PARTS = 3;

    private final List<Set<T>> parts = new ArrayList<>();
    private int joins;
    private int turn;
    private int size;

    Turns() {
        for (int i = 0; i < PARTS; i++) {
            parts.add(new HashSet<>());
        }
    }

    void add(T one) {
        parts.get(joins).add(one);
        joins = (joins + 1) % PARTS;
        size++;
    }

    void remove(T one) {
        for (Set<T> part : parts) {
            if (part.remove(one)) {
                size--;
                return;
            }
        }
    }

    int size() {
        return size;
    }

    /** Those whose turn it is; they may be removed meanwhile. */
    List<T> next() {
        turn = (turn + 1) % PARTS;
        return List.copyOf(parts.get(turn));
    }

    /** Whether a whole round is over with the turn that was taken last. */
    boolean roundIsOver() {
        return turn == PARTS - 1;
    }

    /** All of them; they may be removed meanwhile. */
    List<T> all() {
        List<T> all = new ArrayList<>(size);
        parts.forEach(all::addAll);
        return all;
    }
}
