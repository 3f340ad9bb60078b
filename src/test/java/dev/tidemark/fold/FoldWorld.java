package dev.tidemark.fold;

import dev.tidemark.archive.ArchivePage;
import dev.tidemark.event.Chunk;
import dev.tidemark.event.Position;
import dev.tidemark.event.Setting;
import dev.tidemark.keeper.KeeperWorld;
import dev.tidemark.retention.Windows;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A fold over one stream, its keeper, a fake live log and an archive in memory. */
final class FoldWorld {
    final KeeperWorld keeper;
    final FoldCycle cycle;
    private StreamFold fold;

    FoldWorld(Map<Setting, Long> chosen) {
        this(chosen, Mutant.NONE);
    }

    FoldWorld(Map<Setting, Long> chosen, Mutant mutant) {
        keeper = new KeeperWorld(chosen);
        cycle = mutant.cycle(keeper);
        fold = new StreamFold(keeper.liveStream(), keeper.archive);
    }

    /** The cycle as it must not be. */
    enum Mutant {
        NONE {
            @Override
            FoldCycle cycle(KeeperWorld world) {
                return new FoldCycle(world, world.liveLog, world.liveLog, new Windows(), world.clock);
            }
        },
        /** Trims what retention wants before it folds. */
        TRIMS_BEFORE_IT_FOLDS {
            @Override
            FoldCycle cycle(KeeperWorld world) {
                return new FoldCycle(world, world.liveLog, world.liveLog, new Windows(), world.clock) {
                    @Override
                    Future<Boolean> foldSlice(StreamFold fold) {
                        return trim(fold).compose(trimmed -> super.foldSlice(fold));
                    }

                    @Override
                    Position trimBelow(StreamFold fold, TrimBounds.Bounds wanted) {
                        return window(fold, wanted);
                    }
                };
            }
        },
        /** Trims to the window instead of W. */
        TRIMS_BY_THE_WINDOW {
            @Override
            FoldCycle cycle(KeeperWorld world) {
                return new FoldCycle(world, world.liveLog, world.liveLog, new Windows(), world.clock) {
                    @Override
                    Position trimBelow(StreamFold fold, TrimBounds.Bounds wanted) {
                        return window(fold, wanted);
                    }
                };
            }
        };

        abstract FoldCycle cycle(KeeperWorld world);
    }

    /** A start after a kill: the fold knows nothing any more. */
    void killAndRestart(int unforcedKept) {
        keeper.killAndRestart(unforcedKept);
        fold = new StreamFold(keeper.liveStream(), keeper.archive);
        keeper.open();
    }

    StreamFold fold() {
        return fold;
    }

    Future<Position> run() {
        return cycle.run(fold);
    }

    void sealAndRun() {
        keeper.seal();
        KeeperWorld.succeeded(run());
    }

    /** Payloads in the archive up to W. */
    List<String> archived() {
        List<String> payloads = new ArrayList<>();
        Position after = Position.ZERO;
        boolean more = true;
        while (more) {
            ArchivePage page = keeper.archive.read(after, Position.MAX, 100, 1 << 20);
            Chunk events = page.events();
            payloads.addAll(KeeperWorld.payloads(List.of(events.slice())));
            more = page.more() && events.count() > 0;
            after = events.count() > 0 ? events.last() : after;
        }
        return payloads;
    }

    /** What storage has, each event once whichever side it is on, without what only this process's memory holds. */
    List<String> stored() {
        Map<String, Boolean> all = new LinkedHashMap<>();
        archived().forEach(payload -> all.put(payload, true));
        Position watermark = keeper.archive.watermark();
        keeper.liveLog.events(keeper.liveStream().stripe(0)).stream()
                .filter(event -> event.id().isAfter(watermark))
                .forEach(event -> all.put(KeeperWorld.text(event), true));
        return List.copyOf(all.keySet());
    }
}
