package dev.tidemark.read;

import dev.tidemark.event.Clock;
import dev.tidemark.event.Position;
import dev.tidemark.event.StreamId;
import dev.tidemark.keeper.LiveStream;
import io.vertx.core.Future;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Audits the streams of the process all the time, a few at a beat: those first in which something changed, and of the others a few,
 * round and round. One audit after the other. Streams that aren't open have nobody who could append to them: they are left alone, and
 * none is kept from retiring. Beats belong to one event loop; the figures to any thread.
 */
public final class Audits {
    static final int CHANGED_A_BEAT = 8;
    static final int OTHERS_A_BEAT = 2;
    private static final long SCAN_NS = 1_000_000_000;

    private final Supplier<? extends Collection<? extends LiveStream>> streams;
    private final Port port;
    private final Clock clock;

    private final Map<StreamId, Seen> seen = new HashMap<>();
    private final Deque<LiveStream> changed = new ArrayDeque<>();
    private final Deque<LiveStream> round = new ArrayDeque<>();
    private boolean beating;
    private long scanAtNs;

    /** Written by the beats, read by any thread: only streams that have mismatches. */
    private final Map<StreamId, Long> mismatches = new ConcurrentHashMap<>();

    /** What audits need of the reads. */
    public interface Port {
        /** W as the archive knows it now; at once. */
        Position watermark(LiveStream stream);

        /** Audits an open stream; on the caller's context. */
        Future<StreamAudit> audit(LiveStream stream);
    }

    /** How a stream stood when it was audited last. */
    private record Seen(long appended, Position watermark) {}

    public Audits(Supplier<? extends Collection<? extends LiveStream>> streams, Port port, Clock clock) {
        this.streams = streams;
        this.port = port;
        this.clock = clock;
        scanAtNs = clock.monotonicNs();
    }

    /**
     * Ordinals that aren't accounted for, or more than once, as found last, over all streams; events whose archive files are gone. A
     * figure that falls again when what was found is mended or announced.
     */
    public long mismatches() {
        return mismatches.values().stream().mapToLong(Long::longValue).sum();
    }

    /** Mismatches by stream, for people; empty if there are none. */
    public String detail() {
        Map<String, Long> named = new TreeMap<>();
        mismatches.forEach((id, count) -> named.merge(id.name().toString(), count, Long::sum));
        return named.entrySet().stream()
                .limit(3)
                .map(entry -> entry.getValue() + " in stream '" + entry.getKey() + "'")
                .collect(Collectors.joining(", ", "", named.size() > 3 ? " and more" : ""));
    }

    /** Called some times a second; completes when its audits are done. A beat within a beat does nothing. */
    public Future<Void> beat() {
        if (beating) {
            return Future.succeededFuture();
        }
        beating = true;
        return Future.<Void>succeededFuture()
                .compose(begun -> {
                    scan();
                    return next(changed, CHANGED_A_BEAT);
                })
                .compose(done -> next(round, OTHERS_A_BEAT))
                .onComplete(ended -> beating = false);
    }

    /** Looks which streams have changed; cheap, and not at every beat. */
    private void scan() {
        if (clock.monotonicNs() - scanAtNs < 0 || !changed.isEmpty()) {
            return;
        }
        scanAtNs = clock.monotonicNs() + SCAN_NS;
        Collection<? extends LiveStream> all = streams.get();
        boolean begins = round.isEmpty();
        for (LiveStream stream : all) {
            if (!stream.isDeleted() && isOpen(stream)) {
                if (!standing(stream).equals(seen.get(stream.id()))) {
                    changed.add(stream);
                } else if (begins) {
                    round.add(stream);
                }
            }
        }
        if (seen.size() > all.size() || !mismatches.isEmpty()) {
            Set<StreamId> there = all.stream().map(LiveStream::id).collect(Collectors.toSet());
            seen.keySet().retainAll(there);
            mismatches.keySet().retainAll(there);
        }
    }

    private Future<Void> next(Deque<LiveStream> from, int left) {
        LiveStream stream = left == 0 ? null : from.poll();
        if (stream == null) {
            return Future.succeededFuture();
        }
        if (stream.isDeleted() || !isOpen(stream)) {
            return next(from, left);
        }
        Seen now = standing(stream);
        return port.audit(stream).transform(audited -> {
            if (audited.succeeded()) {
                seen.put(stream.id(), now);
                note(stream.id(), audited.result().mismatches());
            }
            return next(from, left - 1);
        });
    }

    private void note(StreamId id, long count) {
        if (count == 0) {
            mismatches.remove(id);
        } else {
            mismatches.put(id, count);
        }
    }

    private Seen standing(LiveStream stream) {
        long appended = 0;
        for (int i = 0; i < stream.stripes(); i++) {
            appended += stream.snapshot(i).lastOrdinal();
        }
        return new Seen(appended, port.watermark(stream));
    }

    private static boolean isOpen(LiveStream stream) {
        for (int i = 0; i < stream.stripes(); i++) {
            if (!stream.snapshot(i).isOpen()) {
                return false;
            }
        }
        return true;
    }
}
