package dev.tidemark.fold;

import dev.tidemark.archive.Archive;
import dev.tidemark.archive.StreamArchive;
import dev.tidemark.archive.StreamRecord;
import dev.tidemark.archive.StreamRecords;
import dev.tidemark.event.Position;
import dev.tidemark.event.Problem;
import dev.tidemark.event.Setting;
import dev.tidemark.event.StreamId;
import dev.tidemark.keeper.LiveStream;
import dev.tidemark.keeper.StreamStore;
import dev.tidemark.livelog.LiveLogAdmin;
import dev.tidemark.livelog.LiveLogException;
import io.vertx.core.Future;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps streams in {@code stream.json} beside their archives, with a copy in Redis. Everything that touches the disk runs on the
 * stream's lane of the fold, the archive's owner.
 */
public final class ArchiveStreamStore implements StreamStore {
    private static final Logger LOG = LoggerFactory.getLogger(ArchiveStreamStore.class);
    private static final long REMOVE_RETRY_MS = 1_000;

    private final Archive archive;
    private final StreamRecords records;
    private final LiveLogAdmin liveLog;
    private final FoldLanes fold;
    /** By incarnation; the record decides roll period and settings of an archive. */
    private final Map<StreamId, StreamRecord> known = new ConcurrentHashMap<>();

    public ArchiveStreamStore(Archive archive, StreamRecords records, LiveLogAdmin liveLog, FoldLanes fold) {
        this.archive = archive;
        this.records = records;
        this.liveLog = liveLog;
        this.fold = fold;
    }

    /** Adds a stream that was found on disk at the start. */
    public void found(StreamRecord record) {
        known.put(record.id(), record);
    }

    /**
     * The archive of a stream. Any thread.
     *
     * @throws Problem NOT_FOUND if the stream was deleted, maybe since the caller found it
     */
    public StreamArchive archive(StreamId stream) {
        StreamRecord record = known.get(stream);
        if (record == null) {
            throw Problem.noStream(stream.name());
        }
        return archive.stream(record);
    }

    /**
     * Looks for missing files of a stream's archive; nothing if the stream is gone. Blocks.
     *
     * @see Archive#look
     */
    public void look(StreamId stream) {
        StreamRecord record = known.get(stream);
        if (record != null) {
            archive.look(record);
        }
    }

    @Override
    public Future<Void> create(StreamId stream, Map<Setting, Long> settings, long createdMs) {
        StreamRecord record = new StreamRecord(stream, settings, createdMs, false);
        return fold.exclusively(stream, () -> {
                    records.create(record);
                    return record;
                })
                .compose(written -> {
                    known.put(stream, record);
                    return liveLog.create(stream, stripes(record), description(record))
                            .recover(failure -> undo(record, failure));
                });
    }

    /** What was half made must not come back as a second stream of that name. */
    private Future<Void> undo(StreamRecord record, Throwable failure) {
        return fold.exclusively(record.id(), () -> records.bury(record)).transform(buried -> {
            fold.later(record.id(), REMOVE_RETRY_MS, () -> removeInBackground(record.id(), stripes(record)));
            return Future.failedFuture(asProblem(failure));
        });
    }

    private static Throwable asProblem(Throwable failure) {
        boolean retryable =
                failure instanceof LiveLogException refused && refused.kind().retryable();
        return retryable
                ? Problem.unavailable(
                                Problem.Stored.NO,
                                "the stream can't be created: the live log refused: " + failure.getMessage())
                        .causedBy(failure)
                : failure;
    }

    private static int stripes(StreamRecord record) {
        return record.settings().getOrDefault(Setting.STRIPES, 1L).intValue();
    }

    private static String description(StreamRecord record) {
        return "{\"generation\":\"" + record.id().generation() + "\",\"created\":" + record.createdMs() + "}";
    }

    @Override
    public Future<Void> update(StreamId stream, Map<Setting, Long> settings, long createdMs) {
        StreamRecord record = new StreamRecord(stream, settings, createdMs, false);
        return fold.exclusively(stream, () -> {
                    records.update(record);
                    known.put(stream, record);
                    return record;
                })
                .mapEmpty();
    }

    @Override
    public Future<Position> fold(LiveStream stream) {
        return fold.foldAll(stream);
    }

    @Override
    public Future<Void> tombstone(StreamId stream, Map<Setting, Long> settings, long createdMs) {
        StreamRecord record = new StreamRecord(stream, settings, createdMs, false);
        return fold.exclusively(stream, () -> records.bury(record)).mapEmpty();
    }

    /** The tombstone decides: what can't be removed now is removed when it can, by this process or the next. */
    @Override
    public Future<Void> remove(StreamId stream, int stripes) {
        return removeNow(stream, stripes).recover(failure -> {
            LOG.warn("the rest of the deleted stream {} is removed later: {}", stream, failure.getMessage());
            fold.later(stream, REMOVE_RETRY_MS, () -> removeInBackground(stream, stripes));
            return Future.succeededFuture();
        });
    }

    private void removeInBackground(StreamId stream, int stripes) {
        removeNow(stream, stripes).onFailure(failure -> {
            LOG.debug("the rest of the deleted stream {} is still there: {}", stream, failure.getMessage());
            fold.later(stream, REMOVE_RETRY_MS, () -> removeInBackground(stream, stripes));
        });
    }

    private Future<Void> removeNow(StreamId stream, int stripes) {
        return fold.quiet(stream)
                .compose(quiet -> liveLog.delete(stream, stripes))
                .compose(deleted -> fold.exclusively(stream, () -> {
                    archive.delete(stream);
                    records.remove(stream);
                    known.remove(stream);
                    fold.forget(stream);
                    return stream;
                }))
                .mapEmpty();
    }

    /** Finishes the removal of what a dead process had begun to delete. */
    public Future<Void> finish(StreamRecord unfinished) {
        LOG.info("finishing the removal of stream {}", unfinished.id());
        return remove(unfinished.id(), stripes(unfinished));
    }
}
