package dev.tidemark.archive;

import dev.tidemark.event.Generation;
import dev.tidemark.event.Position;
import dev.tidemark.event.StreamId;
import dev.tidemark.event.StreamName;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The data directory's forced reservation of ids. All calls block; one thread at a time. */
public final class ReservationFile {
    private static final int FORMAT = 1;

    private final Path file;

    ReservationFile(Path file) {
        this.file = file;
    }

    /**
     * What may have been handed out.
     *
     * @param highMs H: ids whose milliseconds (Unix) are below it may have been
     * @param clean whether the server stopped cleanly after it
     * @param redisRunId run id of the Redis that held the entries, if known
     * @param stoppedMs the streams' clocks stood there or below at a clean stop; 0 otherwise
     * @param lostBelowMs Redis may have lost the newest of what was acknowledged before this time, Unix ms, and nothing there tells; 0 if
     *     that never happened
     * @param frontiers order was final up to these, at a clean stop, where {@code stoppedMs} doesn't tell
     */
    public record Reservation(
            long highMs,
            boolean clean,
            @Nullable String redisRunId,
            long stoppedMs,
            long lostBelowMs,
            Map<StreamId, Position> frontiers) {
        public Reservation {
            frontiers = Map.copyOf(frontiers);
        }

        /** With nothing lost. */
        public Reservation(
                long highMs,
                boolean clean,
                @Nullable String redisRunId,
                long stoppedMs,
                Map<StreamId, Position> frontiers) {
            this(highMs, clean, redisRunId, stoppedMs, 0, frontiers);
        }

        /** Of a process that runs. */
        public static Reservation running(long highMs, @Nullable String redisRunId) {
            return running(highMs, redisRunId, 0);
        }

        /** Of a process that runs. */
        public static Reservation running(long highMs, @Nullable String redisRunId, long lostBelowMs) {
            return new Reservation(highMs, false, redisRunId, 0, lostBelowMs, Map.of());
        }
    }

    /**
     * What was written last, or null if there never was anything.
     *
     * @throws ArchiveException if there is something that can't be read: ids could be given twice, so that is never "nothing"
     */
    public @Nullable Reservation read() {
        try {
            JsonObject json = new JsonObject(Files.readString(file));
            if (json.getInteger("format", 0) != FORMAT || json.getLong("high_ms") == null) {
                throw new IOException("its format isn't known");
            }
            return new Reservation(
                    json.getLong("high_ms"),
                    json.getBoolean("clean", false),
                    json.getString("redis_run_id"),
                    json.getLong("stopped_ms", 0L),
                    json.getLong("lost_below_ms", 0L),
                    frontiers(json.getJsonArray("frontiers", new JsonArray())));
        } catch (NoSuchFileException e) {
            return null;
        } catch (DecodeException | ClassCastException | IllegalArgumentException e) {
            throw new ArchiveException(
                    ArchiveException.Kind.DAMAGED, "the reservation of ids in " + file + " can't be read", e);
        } catch (IOException e) {
            throw Disk.failed("the reservation of ids in " + file + " can't be read", e);
        }
    }

    private static Map<StreamId, Position> frontiers(JsonArray array) {
        Map<StreamId, Position> frontiers = new HashMap<>();
        for (int i = 0; i < array.size(); i++) {
            JsonObject one = array.getJsonObject(i);
            Generation generation = Generation.parseOrNull(one.getString("generation", ""));
            if (generation == null) {
                throw new IllegalArgumentException("no generation: " + one);
            }
            StreamId stream = new StreamId(new StreamName(one.getString("stream", "")), generation);
            frontiers.put(stream, Position.ofEntryId(one.getString("frontier", "")));
        }
        return frontiers;
    }

    /** Replaces it; on disk when the call returns. */
    public void write(Reservation reservation) {
        JsonObject json = new JsonObject()
                .put("format", FORMAT)
                .put("high_ms", reservation.highMs())
                .put("clean", reservation.clean())
                .put("stopped_ms", reservation.stoppedMs())
                .put("lost_below_ms", reservation.lostBelowMs());
        JsonArray frontiers = new JsonArray();
        reservation
                .frontiers()
                .forEach((stream, frontier) -> frontiers.add(new JsonObject()
                        .put("stream", stream.name().value())
                        .put("generation", stream.generation().toString())
                        .put("frontier", frontier.entryId())));
        json.put("frontiers", frontiers);
        if (reservation.redisRunId() != null) {
            json.put("redis_run_id", reservation.redisRunId());
        }
        try {
            Disk.replace(file, (json.encode() + "\n").getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw Disk.failed("the reservation of ids in " + file + " can't be written", e);
        }
    }
}
