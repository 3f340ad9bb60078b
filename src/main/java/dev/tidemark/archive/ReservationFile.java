package dev.tidemark.archive;

import dev.tidemark.event.Position;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
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
     * @param frontier what no id may be minted at or below, as of a clean stop
     */
    public record Reservation(
            long highMs, boolean clean, @Nullable String redisRunId, Position frontier) {}

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
                    Position.ofEntryId(json.getString("frontier", "0-0")));
        } catch (NoSuchFileException e) {
            return null;
        } catch (DecodeException | ClassCastException | IllegalArgumentException e) {
            throw new ArchiveException(
                    ArchiveException.Kind.DAMAGED, "the reservation of ids in " + file + " can't be read", e);
        } catch (IOException e) {
            throw Disk.failed("the reservation of ids in " + file + " can't be read", e);
        }
    }

    /** Replaces it; on disk when the call returns. */
    public void write(Reservation reservation) {
        JsonObject json = new JsonObject()
                .put("format", FORMAT)
                .put("high_ms", reservation.highMs())
                .put("clean", reservation.clean())
                .put("frontier", reservation.frontier().entryId());
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
