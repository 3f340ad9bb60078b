package dev.tidemark.archive;

import dev.tidemark.event.Generation;
import dev.tidemark.event.Problem;
import dev.tidemark.event.Setting;
import dev.tidemark.event.StreamId;
import dev.tidemark.event.StreamName;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The {@code stream.json} of every incarnation, in its folder {@code <data>/archive/<encoded name>/<generation>/}. They decide which
 * streams there are; each write is whole or not there, and on disk when the call returns. All calls block; one thread at a time for each name.
 *
 * <p>A stream is deleted in this order, so that a crash in between is finished at the next start: {@link #bury} (tombstone), the live
 * log, {@link Archive#delete}, {@link #remove}. {@link #list} gives as {@code unfinished} what is left to do from {@link Archive#delete}
 * on: tombstones, and incarnations of a name that has a newer one.
 *
 * <pre>
 * {"format":1,"name":"quakes","generation":"04Kq…","created":1764440000123,"deleted":false,
 *  "settings":{"live_max_age":"1h","stripes":1,"roll":"daily"}}
 * </pre>
 */
public final class StreamRecords {
    private static final Logger LOG = LoggerFactory.getLogger(StreamRecords.class);

    static final String FILE = "stream.json";

    private static final int READERS = 32;
    private static final int FORMAT = 1;

    private final Path root;

    /** @param root {@code <data>/archive} */
    public StreamRecords(Path root) {
        this.root = root;
    }

    /**
     * What is on disk.
     *
     * @param streams one a name, the newest generation, none deleted; in the order of the names
     * @param unfinished tombstones and superseded generations, whose live log, archive and record are still to be removed
     * @param bad folders that can't be understood, with the reason: they are left alone
     */
    public record Listing(List<StreamRecord> streams, List<StreamRecord> unfinished, List<BadRecord> bad) {
        public Listing {
            streams = List.copyOf(streams);
            unfinished = List.copyOf(unfinished);
            bad = List.copyOf(bad);
        }
    }

    /** A folder whose record can't be read. */
    public record BadRecord(Path folder, String reason) {}

    /**
     * All records. Folders of a creation or removal that was cut short, which hold nothing, are removed, those of names too.
     *
     * @throws ArchiveException if the directory itself can't be read
     */
    public Listing list() {
        return list(true);
    }

    /** As {@link #list}, but nothing is written or removed. */
    public Listing look() {
        return list(false);
    }

    private Listing list(boolean tidy) {
        Map<StreamName, StreamRecord> newest = new TreeMap<>();
        List<StreamRecord> unfinished = new ArrayList<>();
        List<BadRecord> bad = new ArrayList<>();
        for (Look look : lookIntoAll(entries(root, entry -> true))) {
            if (look.isEmptyName()) {
                if (tidy) {
                    removeEmptyName(look.folder());
                }
                continue;
            }
            StreamRecord record = look.record();
            if (look.bad() != null) {
                bad.add(look.bad());
            } else if (record == null) {
                if (tidy) {
                    removeIfEmptyOrBad(look.folder(), bad);
                } else {
                    badUnlessEmpty(look.folder(), bad);
                }
            } else if (record.deleted()) {
                unfinished.add(record);
            } else {
                keepNewer(newest, record, unfinished);
            }
        }
        return new Listing(new ArrayList<>(newest.values()), unfinished, bad);
    }

    /** Many small files: nearly all of it is waiting for the disk, so many are read at a time. */
    private static List<Look> lookIntoAll(List<Path> nameFolders) {
        ForkJoinPool readers = new ForkJoinPool(READERS);
        try {
            return readers.invoke(ForkJoinTask.adapt(() -> nameFolders.parallelStream()
                    .map(StreamRecords::lookInto)
                    .flatMap(List::stream)
                    .toList()));
        } finally {
            readers.shutdown();
        }
    }

    /** What a folder holds: a record, or nothing, or what can't be understood. */
    private record Look(
            Path folder,
            @Nullable StreamRecord record,
            @Nullable BadRecord bad,
            boolean isEmptyName) {}

    private static List<Look> lookInto(Path nameFolder) {
        List<Look> looks = new ArrayList<>();
        for (Path folder : folders(nameFolder)) {
            try {
                looks.add(new Look(folder, read(folder), null, false));
            } catch (IOException | IllegalArgumentException | ClassCastException e) {
                looks.add(new Look(folder, null, new BadRecord(folder, String.valueOf(e.getMessage())), false));
            }
        }
        if (looks.isEmpty() && Files.isDirectory(nameFolder)) {
            looks.add(new Look(nameFolder, null, null, true));
        }
        return looks;
    }

    /** It was left between the removal of the last generation in it and its own. If it can't be removed, it does no harm. */
    private static void removeEmptyName(Path folder) {
        try {
            deleteIfEmpty(folder);
        } catch (IOException e) {
            LOG.debug("{} is empty and can't be removed", folder, e);
        }
    }

    private static void badUnlessEmpty(Path folder, List<BadRecord> bad) {
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
            if (entries.iterator().hasNext()) {
                bad.add(new BadRecord(folder, "there is no " + FILE));
            }
        } catch (IOException | java.nio.file.DirectoryIteratorException e) {
            bad.add(new BadRecord(folder, String.valueOf(e.getMessage())));
        }
    }

    private static void removeIfEmptyOrBad(Path folder, List<BadRecord> bad) {
        try {
            removeIfEmpty(folder, bad);
        } catch (IOException e) {
            bad.add(new BadRecord(folder, String.valueOf(e.getMessage())));
        }
    }

    private static void keepNewer(
            Map<StreamName, StreamRecord> newest, StreamRecord record, List<StreamRecord> superseded) {
        StreamRecord other = newest.putIfAbsent(record.id().name(), record);
        if (other == null) {
            return;
        }
        Comparator<StreamRecord> byAge = Comparator.comparingLong(StreamRecord::createdMs)
                .thenComparingLong(r -> r.id().generation().number());
        boolean newer = byAge.compare(record, other) > 0;
        newest.put(record.id().name(), newer ? record : other);
        superseded.add(newer ? other : record);
    }

    private static List<Path> folders(Path directory) {
        return entries(directory, Files::isDirectory);
    }

    /** Nothing if it isn't a directory. To ask what an entry is may mean waiting for the disk. */
    private static List<Path> entries(Path directory, DirectoryStream.Filter<Path> filter) {
        List<Path> folders = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory, filter)) {
            entries.forEach(folders::add);
        } catch (NoSuchFileException | NotDirectoryException e) {
            return List.of();
        } catch (IOException | java.nio.file.DirectoryIteratorException e) {
            throw Disk.failed("the streams in " + directory + " can't be listed", e);
        }
        return folders;
    }

    private static void removeIfEmpty(Path folder, List<BadRecord> bad) throws IOException {
        Files.deleteIfExists(folder.resolve(FILE + ".tmp"));
        try {
            Files.delete(folder);
            deleteIfEmpty(Disk.directoryOf(folder));
        } catch (DirectoryNotEmptyException e) {
            bad.add(new BadRecord(folder, "there is no " + FILE));
        }
    }

    private static void deleteIfEmpty(Path folder) throws IOException {
        try {
            Files.deleteIfExists(folder);
        } catch (DirectoryNotEmptyException e) {
            // Another generation is in it.
        }
    }

    /** The record in a folder, or null if there is none. */
    private static @Nullable StreamRecord read(Path folder) throws IOException {
        String text;
        try {
            text = Files.readString(folder.resolve(FILE));
        } catch (NoSuchFileException e) {
            return null;
        }
        StreamRecord record = parse(text);
        String name = record.id().name().diskName();
        if (!folder.endsWith(Path.of(name, record.id().generation().toString()))) {
            throw new IOException(FILE + " is of " + record.id() + ", which isn't what the folder is called");
        }
        return record;
    }

    static StreamRecord parse(String text) throws IOException {
        try {
            JsonObject json = new JsonObject(text);
            if (json.getInteger("format", 0) != FORMAT) {
                throw new IOException(FILE + " has format " + json.getValue("format") + "; known is " + FORMAT);
            }
            Generation generation = Generation.parseOrNull(json.getString("generation", ""));
            if (generation == null) {
                throw new IOException(FILE + " has no generation");
            }
            StreamId id = new StreamId(new StreamName(json.getString("name", "")), generation);
            return new StreamRecord(
                    id,
                    settings(json.getJsonObject("settings", new JsonObject())),
                    json.getLong("created", 0L),
                    json.getBoolean("deleted", false));
        } catch (DecodeException | ClassCastException | IllegalArgumentException | Problem e) {
            throw new IOException(FILE + " can't be understood: " + e.getMessage(), e);
        }
    }

    private static Map<Setting, Long> settings(JsonObject written) throws IOException {
        Map<Setting, Long> settings = new EnumMap<>(Setting.class);
        for (Map.Entry<String, Object> entry : written) {
            Setting setting = Setting.byKey(entry.getKey());
            if (setting == null) {
                throw new IOException(FILE + " has the unknown setting " + Problem.quote(entry.getKey()));
            }
            settings.put(setting, setting.parse(entry.getValue()));
        }
        return settings;
    }

    static String format(StreamRecord record) {
        JsonObject settings = new JsonObject();
        for (Setting setting : Setting.values()) {
            Long value = record.settings().get(setting);
            if (value != null) {
                settings.put(setting.key(), setting.format(value));
            }
        }
        return new JsonObject()
                        .put("format", FORMAT)
                        .put("name", record.id().name().value())
                        .put("generation", record.id().generation().toString())
                        .put("created", record.createdMs())
                        .put("deleted", record.deleted())
                        .put("settings", settings)
                        .encodePrettily()
                + "\n";
    }

    /**
     * Makes a stream's folder and record.
     *
     * @throws ArchiveException if that fails; nothing or an empty folder is left
     */
    public void create(StreamRecord record) {
        write(record);
    }

    /** Replaces the record of a stream that is there, for example with other settings. */
    public void update(StreamRecord record) {
        write(record);
    }

    /** Writes the tombstone: from now on the stream is gone, and a start finishes its removal. */
    public StreamRecord bury(StreamRecord record) {
        StreamRecord tombstone = new StreamRecord(record.id(), record.settings(), record.createdMs(), true);
        write(tombstone);
        return tombstone;
    }

    private void write(StreamRecord record) {
        Path folder = Archive.folderOf(root, record.id());
        try {
            Disk.createDirectories(folder);
            Disk.replace(folder.resolve(FILE), format(record).getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw Disk.failed("the record of " + record.id() + " can't be written", e);
        }
    }

    /** Removes the last of a deleted stream, after {@link Archive#delete}. Nothing there is no error. */
    public void remove(StreamId id) {
        Path folder = Archive.folderOf(root, id);
        try {
            Disk.deleteTree(folder);
            Path nameFolder = Disk.directoryOf(folder);
            deleteIfEmpty(nameFolder);
            Disk.forceDirectory(Files.isDirectory(nameFolder) ? nameFolder : Disk.directoryOf(nameFolder));
        } catch (NoSuchFileException e) {
            // The archive's own directory is gone.
        } catch (IOException e) {
            throw Disk.failed("the record of " + id + " can't be removed", e);
        }
    }
}
