package dev.tidemark.keeper;

import io.vertx.core.Future;
import io.vertx.core.VerticleBase;

/** A keeper on an event loop of its own. */
final class KeeperVerticle extends VerticleBase {
    private final Keeper keeper;
    private long timer = -1;
    private boolean idle;

    KeeperVerticle(Keeper keeper) {
        this.keeper = keeper;
    }

    @Override
    public Future<?> start() {
        keeper.onBusy(this::busy);
        tickIn(Keeper.TICK_MS);
        return keeper.start();
    }

    /** A tick that is due soon stays: whoever comes and goes again and again must not put it off. */
    private void busy() {
        if (idle) {
            vertx.cancelTimer(timer);
            tickIn(Keeper.TICK_MS);
        }
    }

    /** An idle loop isn't woken more often than it must: that is what an idle server's time goes into. */
    private void tickIn(long ms) {
        idle = ms > Keeper.TICK_MS;
        timer = vertx.setTimer(ms, fired -> tick());
    }

    private void tick() {
        // What becomes busy within the tick is seen at its end.
        idle = false;
        try {
            keeper.tick();
        } finally {
            tickIn(keeper.isBusy() ? Keeper.TICK_MS : Keeper.TICK_MS_IDLE);
        }
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
