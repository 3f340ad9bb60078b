package dev.tidemark.archive;

import dev.tidemark.event.Position;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The marker of a clean stop: what the archive held then, all of it forced. It stays true when more is appended, so it is never
 * removed, and it needs no force of its own: where it is torn or gone, the end is looked for without it.
 *
 * <p>The file {@code clean-close} has two lines: a JSON object, and the CRC32C of that line in hex.
 */
final class CleanClose {
    static final String FILE = "clean-close";

    private static final Logger LOG = LoggerFactory.getLogger(CleanClose.class);

    private CleanClose() {}

    static void write(Path folder, Tail tail) {
        JsonObject ordinals = new JsonObject();
        tail.ordinals().forEach((stripe, ordinal) -> ordinals.put(String.valueOf(stripe), ordinal));
        JsonObject counts = new JsonObject();
        tail.counts()
                .forEach((stripe, count) -> counts.put(
                        String.valueOf(stripe),
                        new JsonArray()
                                .add(count.uncounted())
                                .add(count.events())
                                .add(count.lost())
                                .add(count.voided())));
        String line = new JsonObject()
                .put("format", 1)
                .put("cycle", tail.cycle)
                .put("count", tail.count)
                .put("last", tail.last.entryId())
                .put("events", tail.events)
                .put("earlier_bytes", tail.earlierBytes)
                .put("file_before", tail.fileBefore)
                .put("since_waypoint", tail.sinceWaypoint)
                .put("ordinals", ordinals)
                .put("counts", counts)
                .put("producers_from", tail.producers.from().entryId())
                .put("producers_through", tail.producers.through().entryId())
                .encode();
        try {
            String text = line + "\n" + crc(line) + "\n";
            Disk.replaceUnforced(folder.resolve(FILE), text.getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            LOG.warn("no marker of the clean stop in {}: {}", folder, e.toString());
        }
    }

    /** What the marker says, or null if there is none that can be trusted. */
    static @Nullable Tail read(Path folder) {
        try {
            String[] lines = Files.readString(folder.resolve(FILE)).split("\n", -1);
            if (lines.length != 3 || !lines[1].equals(crc(lines[0]))) {
                return null;
            }
            return parse(new JsonObject(lines[0]));
        } catch (NoSuchFileException e) {
            return null;
        } catch (IOException | DecodeException | ClassCastException | IllegalArgumentException e) {
            LOG.warn("the marker of a clean stop in {} isn't used: {}", folder, e.toString());
            return null;
        }
    }

    private static @Nullable Tail parse(JsonObject json) {
        if (json.getInteger("format", 0) != 1) {
            return null;
        }
        Tail tail = new Tail();
        tail.cycle = json.getInteger("cycle", RollFiles.NONE);
        tail.count = json.getLong("count", 0L);
        tail.last = Position.ofEntryId(json.getString("last", ""));
        tail.events = json.getLong("events", 0L);
        tail.earlierBytes = json.getLong("earlier_bytes", 0L);
        tail.fileBefore = json.getInteger("file_before", RollFiles.NONE);
        tail.sinceWaypoint = json.getLong("since_waypoint", 0L);
        Map<Integer, Long> ordinals = new TreeMap<>();
        for (Map.Entry<String, Object> entry : json.getJsonObject("ordinals", new JsonObject())) {
            ordinals.put(Integer.valueOf(entry.getKey()), ((Number) entry.getValue()).longValue());
        }
        tail.takeOrdinals(ordinals);
        tail.takeCounts(counts(json.getJsonObject("counts", new JsonObject()), ordinals));
        tail.producers.set(
                Position.ofEntryId(json.getString("producers_from", Position.ZERO.entryId())),
                Position.ofEntryId(json.getString("producers_through", Position.ZERO.entryId())));
        return tail.cycle >= 0 && tail.count > 0 ? tail : null;
    }

    private static Map<Integer, StripeCount> counts(JsonObject json, Map<Integer, Long> ordinals) {
        Map<Integer, StripeCount> counts = new TreeMap<>();
        ordinals.forEach((stripe, ordinal) -> {
            JsonArray count = json.getJsonArray(String.valueOf(stripe));
            counts.put(
                    stripe,
                    count == null || count.size() != 4
                            ? StripeCount.uncounted(ordinal)
                            : new StripeCount(count.getLong(0), count.getLong(1), count.getLong(2), count.getLong(3)));
        });
        return counts;
    }

    private static String crc(String line) {
        CRC32C crc = new CRC32C();
        crc.update(line.getBytes(StandardCharsets.UTF_8));
        return Long.toHexString(crc.getValue());
    }
}
