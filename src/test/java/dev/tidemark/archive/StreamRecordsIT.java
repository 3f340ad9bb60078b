package dev.tidemark.archive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.event.Generation;
import dev.tidemark.event.Limits;
import dev.tidemark.event.Setting;
import dev.tidemark.event.StreamId;
import dev.tidemark.event.StreamName;
import dev.tidemark.event.Units;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StreamRecordsIT {
    @TempDir
    Path data;

    private Path root = Path.of("");
    private StreamRecords records = new StreamRecords(root);

    @BeforeEach
    void open() {
        root = data.resolve("archive");
        records = new StreamRecords(root);
    }

    private static StreamRecord record(String name, long generation, long createdMs) {
        return new StreamRecord(
                new StreamId(new StreamName(name), new Generation(generation)),
                Map.of(
                        Setting.STRIPES, 1L,
                        Setting.ROLL, 1L,
                        Setting.LIVE_MAX_AGE, 90_000L,
                        Setting.LIVE_MAX_BYTES, Units.NONE,
                        Setting.CHUNK_MAX_BYTES, 65_536L,
                        Setting.LATE, 1L),
                createdMs,
                false);
    }

    private Path file(StreamRecord record) {
        return Archive.folderOf(root, record.id()).resolve("stream.json");
    }

    @Test
    @Tag("R42")
    void everyNameAndSettingComesBack() throws IOException {
        List<String> names =
                List.of("quakes", "a/b", "%2e", "Ä日本", "x".repeat(200), "é".repeat(100), "A", "a", ".x", "a b");
        long generation = 1;
        for (String name : names) {
            records.create(record(name, generation, generation));
            generation++;
        }
        StreamRecords.Listing listing = new StreamRecords(root).list();
        assertEquals(
                names.stream().sorted().toList(),
                listing.streams().stream().map(r -> r.id().name().value()).toList());
        for (StreamRecord read : listing.streams()) {
            assertEquals(record(read.id().name().value(), read.id().generation().number(), read.createdMs()), read);
        }
        assertEquals(List.of(), listing.bad());
        assertEquals(List.of(), listing.unfinished());
        try (Stream<Path> all = Files.walk(data)) {
            assertTrue(all.allMatch(path -> path.startsWith(data)));
        }
    }

    @Test
    void settingsAreWrittenAsUsersWriteThem() throws IOException {
        StreamRecord record = record("quakes", 1, 5);
        records.create(record);
        String text = Files.readString(file(record));
        assertTrue(text.contains("\"live_max_age\" : \"90s\""), text);
        assertTrue(text.contains("\"live_max_bytes\" : \"none\""), text);
        assertTrue(text.contains("\"chunk_max_bytes\" : \"64KiB\""), text);
        assertTrue(text.contains("\"roll\" : \"hourly\""), text);
        assertTrue(text.contains("\"stripes\" : 1"), text);
    }

    @Test
    void anUpdateReplacesAndATombstoneIsListedUntilItIsRemoved() {
        StreamRecord record = record("quakes", 1, 5);
        records.create(record);
        StreamRecord changed = new StreamRecord(
                record.id(), Map.of(Setting.STRIPES, 1L, Setting.ROLL, 1L, Setting.LIVE_MAX_EVENTS, 7L), 5, false);
        records.update(changed);
        assertEquals(List.of(changed), records.list().streams());
        StreamRecord tombstone = records.bury(changed);
        assertEquals(List.of(), records.list().streams());
        assertEquals(List.of(tombstone), records.list().unfinished());
        records.remove(record.id());
        records.remove(record.id());
        assertEquals(new StreamRecords.Listing(List.of(), List.of(), List.of()), records.list());
        assertFalse(Files.exists(root.resolve("quakes")));
    }

    @Test
    void aDeleteThatWasCutShortIsFinishedFromWhatIsListed() {
        StreamRecord record = record("quakes", 1, 5);
        records.create(record);
        try (Archive archive = new Archive(root, Limits.DEFAULT)) {
            StreamArchive stream = archive.stream(record);
            ArchiveContract.fold(stream, Sample.run(0, 1, 10));
            stream.close();
        }
        records.bury(record);
        try (Archive archive = new Archive(root, Limits.DEFAULT)) {
            StreamRecords.Listing listing = new StreamRecords(root).list();
            assertEquals(1, listing.unfinished().size());
            archive.delete(record.id());
            assertEquals(1, new StreamRecords(root).list().unfinished().size());
            records.remove(record.id());
        }
        assertFalse(Files.exists(root.resolve("quakes")));
    }

    @Test
    void theFolderOfANameThatIsEmptyIsRemovedAndWhatIsSomeoneElsesStays() throws IOException {
        Path empty = Files.createDirectories(root.resolve("quakes"));
        Path others = Files.createDirectories(root.resolve("notes"));
        Files.writeString(others.resolve("todo.txt"), "mine");
        Files.writeString(root.resolve("file"), "mine");
        StreamRecords.Listing nothing = new StreamRecords.Listing(List.of(), List.of(), List.of());
        assertEquals(nothing, records.look());
        assertTrue(Files.isDirectory(empty), "a look removes nothing");
        assertEquals(nothing, records.list());
        assertFalse(Files.exists(empty));
        assertTrue(Files.exists(others.resolve("todo.txt")));
        assertTrue(Files.exists(root.resolve("file")));
    }

    @Test
    void theNewestGenerationOfANameWins() {
        StreamRecord old = record("quakes", 9, 5);
        StreamRecord now = record("quakes", 3, 6);
        records.create(old);
        records.create(now);
        StreamRecords.Listing listing = records.list();
        assertEquals(List.of(now), listing.streams());
        assertEquals(List.of(old), listing.unfinished());
    }

    @Test
    void whatCannotBeUnderstoodIsReportedAndTheRestListed() throws IOException {
        StreamRecord good = record("good", 1, 5);
        records.create(good);
        for (int i = 0; i < 6; i++) {
            records.create(record("bad" + i, 10 + i, 5));
        }
        Files.writeString(file(record("bad0", 10, 5)), "{\"format\":1,");
        Files.write(file(record("bad1", 11, 5)), new byte[0]);
        Files.writeString(file(record("bad2", 12, 5)), Files.readString(file(good)));
        Files.writeString(file(record("bad3", 13, 5)), "{\"format\":99}");
        Files.writeString(
                file(record("bad4", 14, 5)),
                Files.readString(file(record("bad4", 14, 5))).replace("90s", "soon"));
        Files.writeString(
                file(record("bad5", 15, 5)),
                Files.readString(file(record("bad5", 15, 5))).replace("\"late\"", "\"later\""));
        Files.createDirectories(root.resolve("orphan/00000000001"));
        Files.writeString(root.resolve("orphan/00000000001/20251129F.cq4"), "x");
        Files.createDirectories(root.resolve("half/00000000001"));
        Files.writeString(root.resolve("half/00000000001/stream.json.tmp"), "{");
        StreamRecords.Listing listing = records.list();
        assertEquals(List.of(good), listing.streams());
        assertEquals(7, listing.bad().size(), listing.bad().toString());
        assertFalse(Files.exists(root.resolve("half")));
        assertTrue(Files.exists(root.resolve("orphan")));
    }

    @Test
    @Tag("R54")
    void aRecordThatCannotBeWrittenIsAnError() throws IOException {
        Files.createDirectories(root);
        Files.writeString(root.resolve("quakes"), "in the way");
        ArchiveException e = assertThrows(ArchiveException.class, () -> records.create(record("quakes", 1, 5)));
        assertEquals(ArchiveException.Kind.IO, e.kind());
    }

    @Test
    void anEmptyDirectoryHasNoStreams() {
        assertEquals(new StreamRecords.Listing(List.of(), List.of(), List.of()), records.list());
    }
}
