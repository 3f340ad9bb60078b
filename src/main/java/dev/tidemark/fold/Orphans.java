package dev.tidemark.fold;

import dev.tidemark.event.Clock;
import dev.tidemark.event.Position;
import dev.tidemark.event.StreamSettings;
import dev.tidemark.event.Units;
import dev.tidemark.keeper.LiveStream;
import dev.tidemark.livelog.LiveLogReader;
import dev.tidemark.livelog.LiveLogState;
import dev.tidemark.livelog.LiveLogTrimmer;
import io.vertx.core.Future;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What dead processes left in the live log is folded after a start, though nobody opens its streams. Redis is asked, with a few questions
 * a stream, where the live log ends and what the copy of the seam says: only a stream with something above that is opened and folded;
 * one with folded entries that age will trim is noted for then; all others stay closed. A hint that is stale costs a look or waits for
 * the stream's first use: the archive decides. One context.
 */
public final class Orphans {
    /** Streams that Redis is asked about at a time: few, since whoever comes first after a start goes before. */
    private static final int LOOKS_MAX = 2;
    /** Streams that are folded at a time. */
    private static final int FOLDS_MAX = 4;

    private static final long RETRY_MS = 1_000;
    private static final Logger LOG = LoggerFactory.getLogger(Orphans.class);

    private final LiveLogReader reader;
    private final LiveLogTrimmer seams;
    private final Ports ports;
    private final Clock clock;
    private final Deque<LiveStream> unseen = new ArrayDeque<>();
    private final Deque<LiveStream> unfolded = new ArrayDeque<>();
    private int looking;
    private int folding;
    private int found;

    /** What is done with the streams; futures complete on the caller's context. */
    public interface Ports {
        /** Opens a stream and folds it. */
        Future<?> fold(LiveStream stream);

        /** Opens, folds and trims a stream after a while. */
        void foldIn(LiveStream stream, long delayMs);

        /** Completes after a while. */
        Future<?> pause(long ms);

        /** Whether the server is stopping; then nothing more is begun. */
        boolean isStopping();
    }

    public Orphans(LiveLogReader reader, LiveLogTrimmer seams, Ports ports, Clock clock) {
        this.reader = reader;
        this.seams = seams;
        this.ports = ports;
        this.clock = clock;
    }

    /** Begins to look at the streams that were on disk at the start. */
    public void lookAt(Collection<? extends LiveStream> streams) {
        unseen.addAll(streams);
        next();
    }

    private void next() {
        if (ports.isStopping()) {
            return;
        }
        while (looking < LOOKS_MAX && !unseen.isEmpty()) {
            looking++;
            LiveStream stream = unseen.remove();
            look(stream).onComplete(looked -> {
                looking--;
                if (looked.failed()) {
                    again(unseen, stream, looked.cause());
                }
                next();
            });
        }
        while (folding < FOLDS_MAX && !unfolded.isEmpty()) {
            folding++;
            LiveStream stream = unfolded.remove();
            ports.fold(stream).onComplete(folded -> {
                folding--;
                if (folded.failed()) {
                    again(unfolded, stream, folded.cause());
                }
                next();
            });
        }
    }

    private void again(Deque<LiveStream> queue, LiveStream stream, Throwable cause) {
        LOG.debug("stream {} is looked at again: {}", stream.id(), cause.getMessage());
        ports.pause(RETRY_MS).onSuccess(later -> {
            if (!stream.isDeleted()) {
                queue.add(stream);
            }
            next();
        });
    }

    private Future<Void> look(LiveStream stream) {
        if (stream.isDeleted()) {
            return Future.succeededFuture();
        }
        List<Future<LiveLogState>> asked = new ArrayList<>();
        for (int i = 0; i < stream.stripes(); i++) {
            asked.add(reader.state(stream.stripe(i)));
        }
        return seams.copiedSeam(stream.id())
                .compose(seam -> Future.all(asked)
                        .map(all -> all.<LiveLogState>list())
                        .map(states -> {
                            decide(stream, seam, states);
                            return null;
                        }));
    }

    private void decide(LiveStream stream, Position seam, List<LiveLogState> states) {
        StreamSettings settings = stream.settings();
        long events = 0;
        long bytes = 0;
        long oldestMs = Long.MAX_VALUE;
        boolean above = false;
        for (LiveLogState state : states) {
            events += state.length();
            bytes += state.bytes();
            oldestMs = state.length() == 0
                    ? oldestMs
                    : Math.min(oldestMs, state.first().ms());
            above |= state.last().isAfter(seam);
        }
        if (events == 0) {
            return;
        }
        if (above || events > settings.liveMaxEvents() || bytes > settings.liveMaxBytes()) {
            if (found++ == 0) {
                LOG.info("streams with events that a predecessor left unfolded are folded in the background");
            }
            unfolded.add(stream);
        } else if (settings.liveMaxAgeMs() != Units.NONE) {
            ports.foldIn(stream, Math.max(0, oldestMs + settings.liveMaxAgeMs() - clock.wallMs()));
        }
    }

    /** Whether all have been looked at and folded. */
    boolean isDone() {
        return unseen.isEmpty() && unfolded.isEmpty() && looking == 0 && folding == 0;
    }

    /** Streams with something to fold, so far. */
    int found() {
        return found;
    }
}
