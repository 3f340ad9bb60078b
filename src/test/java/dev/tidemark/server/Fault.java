package dev.tidemark.server;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * What a round of the crash harness does to the server.
 *
 * @param point where; null: at a random moment
 */
record Fault(Act act, @Nullable NamedPoint point) {
    enum Act {
        KILL_SERVER("kill -9 server"),
        KILL_REDIS("kill -9 Redis"),
        KILL_BOTH("kill -9 both"),
        PAUSE_SERVER("stop/continue server"),
        PAUSE_REDIS("stop/continue Redis");

        private final String title;

        Act(String title) {
            this.title = title;
        }
    }

    /** What its row of the table is called. */
    String title() {
        return act.title + ", " + (point == null ? "random moment" : point.title());
    }

    /**
     * Faults in a random order, such that any stretch of them has all kinds: the server is killed at each named point; Redis is killed,
     * and the server stopped, at a random one of them; the rest comes at random moments.
     */
    static List<Fault> drawn(int count, Random random) {
        List<Fault> drawn = new ArrayList<>();
        while (drawn.size() < count) {
            List<Fault> deck = new ArrayList<>();
            for (NamedPoint point : NamedPoint.values()) {
                deck.add(new Fault(Act.KILL_SERVER, point));
            }
            for (int i = 0; i < 2; i++) {
                deck.add(new Fault(Act.KILL_SERVER, null));
                deck.add(new Fault(Act.KILL_REDIS, null));
                deck.add(new Fault(Act.KILL_REDIS, anyPoint(random)));
                deck.add(new Fault(Act.PAUSE_SERVER, anyPoint(random)));
            }
            deck.add(new Fault(Act.KILL_BOTH, null));
            deck.add(new Fault(Act.PAUSE_SERVER, null));
            deck.add(new Fault(Act.PAUSE_REDIS, null));
            Collections.shuffle(deck, random);
            drawn.addAll(deck);
        }
        return drawn.subList(0, count);
    }

    private static NamedPoint anyPoint(Random random) {
        NamedPoint[] all = NamedPoint.values();
        return all[random.nextInt(all.length)];
    }

    /** All rows of the table in their order: acts, and in them the random moments before the points. */
    static List<String> titles() {
        List<String> titles = new ArrayList<>();
        for (Act act : Act.values()) {
            titles.add(new Fault(act, null).title());
            Arrays.stream(NamedPoint.values()).forEach(point -> titles.add(new Fault(act, point).title()));
        }
        return titles;
    }
}
