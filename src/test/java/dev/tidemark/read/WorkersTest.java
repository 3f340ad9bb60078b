package dev.tidemark.read;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tidemark.event.Problem;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class WorkersTest {
    @Test
    void aPoolThatIsClosedMakesCallsUnavailableNotBroken() throws Exception {
        Vertx vertx = Vertx.vertx();
        try {
            WorkerExecutor pool = vertx.createSharedWorkerExecutor("closing", 1);
            Workers workers = Workers.of(pool);
            assertEquals("there", workers.call(() -> "there").await(10, TimeUnit.SECONDS));
            pool.close().await(10, TimeUnit.SECONDS);
            Future<String> late = workers.call(() -> "not any more");
            Problem problem = assertInstanceOf(
                    Problem.class, assertThrows(Throwable.class, () -> late.await(10, TimeUnit.SECONDS)));
            assertEquals(Problem.Kind.UNAVAILABLE, problem.kind());
        } finally {
            vertx.close().await(10, TimeUnit.SECONDS);
        }
    }
}
