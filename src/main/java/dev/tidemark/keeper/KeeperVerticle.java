package dev.tidemark.keeper;

import io.vertx.core.Future;
import io.vertx.core.VerticleBase;

/** A keeper on an event loop of its own. */
final class KeeperVerticle extends VerticleBase {
    private static final long TICK_MS = 20;

    private final Keeper keeper;

    KeeperVerticle(Keeper keeper) {
        this.keeper = keeper;
    }

    @Override
    public Future<?> start() {
        vertx.setPeriodic(TICK_MS, timer -> keeper.tick());
        return keeper.start();
    }

    @Override
    public Future<?> stop() {
        keeper.stop();
        return Future.succeededFuture();
    }

    /** Runs on the keeper's loop. Any thread. */
    void execute(Runnable task) {
        context.runOnContext(nothing -> task.run());
    }
}
