package dev.tidemark.http;

import dev.tidemark.event.CheckProgress;
import dev.tidemark.event.Finding;
import dev.tidemark.event.Position;
import dev.tidemark.read.Verification;
import io.vertx.core.Future;
import java.util.List;

/** A check that finds one thing with each step. */
final class FakeVerification implements Verification {
    private final FakeStream stream;
    private final List<Finding> findings;
    private int step;

    FakeVerification(FakeStream stream, List<Finding> findings) {
        this.stream = stream;
        this.findings = findings;
    }

    @Override
    public Future<Step> next() {
        if (!stream.id.name().value().equals("s")) {
            return Future.failedFuture(new IllegalStateException("broken"));
        }
        List<Finding> found = step < findings.size() ? List.of(findings.get(step)) : List.of();
        step++;
        CheckProgress figures = new CheckProgress(found, true, 2, 300, 400, 50, Position.ZERO, FakeStream.position(2));
        return Future.succeededFuture(new Step(found, step > findings.size(), figures, 7));
    }

    @Override
    public void stop() {}
}
