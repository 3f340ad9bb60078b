package dev.tidemark.read;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.vertx.core.Vertx;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class VertxLoopsTest {
    private final Vertx vertx = Vertx.vertx();
    private final VertxLoops loops = new VertxLoops(vertx);

    @AfterEach
    void close() throws Exception {
        vertx.close().toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
    }

    @Test
    void tasksRunInOrderOnTheLoopThatWasFoundAndNeverWithinTheCall() throws Exception {
        CompletableFuture<List<String>> done = new CompletableFuture<>();
        List<String> order = new CopyOnWriteArrayList<>();
        vertx.runOnContext(v -> {
            Thread here = Thread.currentThread();
            EventLoop loop = loops.loop();
            assertSame(loop, loops.loop());
            loop.schedule(1, () -> {
                order.add("timer " + (Thread.currentThread() == here));
                done.complete(order);
            });
            loop.post(() -> order.add("first " + (Thread.currentThread() == here)));
            loop.post(() -> order.add("second"));
            order.add("caller");
        });
        assertEquals(List.of("caller", "first true", "second", "timer true"), done.get(10, TimeUnit.SECONDS));
    }

    @Test
    void whoIsNotOnAnEventLoopIsToldSo() {
        assertThrows(IllegalStateException.class, loops::loop);
    }
}
