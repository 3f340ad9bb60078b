package dev.tidemark.archive;

import dev.tidemark.event.Finding;
import dev.tidemark.event.Position;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What is in an archive's folder, and what the start of each roll file says of it. Nothing is written. Blocking. */
final class CheckedFiles {
    /** So many excerpts are looked at for the first event: producers' checkpoints may stand before it. */
    private static final int FIRST_EVENT_WITHIN = 512;

    /**
     * A roll file.
     *
     * @param cycle what its name says
     * @param content the cycle of its first event: where it belongs; as {@code cycle} if it has none
     * @param fileBefore cycle of the file before it, as its head says; {@link RollFiles#NONE} if none, or if that can't be read
     * @param eventsBefore events before it, as its head says; negative if that can't be read
     * @param lastBefore last event before it, as its head says
     * @param bytes up to its last excerpt, about
     * @param headerGood whether its header is as it was written, so far as it can be told
     * @param unreadable whether it isn't known what it holds
     * @param trouble why it can't be read; empty if it can
     */
    record Start(
            int cycle,
            int content,
            int fileBefore,
            long eventsBefore,
            Position lastBefore,
            long bytes,
            boolean headerGood,
            boolean unreadable,
            String trouble) {
        boolean isUsable() {
            return trouble.isEmpty();
        }

        static Start unusable(int cycle, boolean unreadable, String trouble) {
            return new Start(cycle, cycle, RollFiles.NONE, -1, Position.ZERO, 0, false, unreadable, trouble);
        }
    }

    private final ArchiveFolder folder;
    private final int excerptBytesMax;

    CheckedFiles(ArchiveFolder folder, int excerptBytesMax) {
        this.folder = folder;
        this.excerptBytesMax = excerptBytesMax;
    }

    /** Names in the folder that a roll file once had, or that only look like one. */
    List<Finding> others() throws IOException {
        List<Finding> notes = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder.path())) {
            for (Path entry : entries) {
                String name = String.valueOf(entry.getFileName());
                String note = note(name);
                if (note != null) {
                    notes.add(new Finding(Finding.Kind.NOTE, name, Finding.NONE, Position.ZERO, note));
                }
            }
        } catch (NoSuchFileException e) {
            return List.of();
        }
        notes.sort((one, other) -> one.file().compareTo(other.file()));
        return notes;
    }

    private @Nullable String note(String name) {
        if (name.endsWith(RollFiles.SUFFIX)) {
            return folder.files().cycleOf(name) == RollFiles.NONE
                    ? "isn't a file of this archive; the next start puts it aside"
                    : null;
        }
        boolean aside = name.contains(RollFiles.SUFFIX + ArchiveFolder.DAMAGED)
                || name.contains(RollFiles.SUFFIX + ".empty")
                || name.contains(RollFiles.SUFFIX + ArchiveFolder.FOREIGN);
        return aside ? "was put aside at an earlier start and isn't read" : null;
    }

    /** The start of the file with that cycle. */
    Start start(int cycle) {
        Path file = folder.file(cycle);
        try {
            long size = Files.size(file);
            if (size == 0) {
                return Start.unusable(cycle, false, "is empty: 0 bytes");
            }
            RollFileHeader.Verdict header = RollFileHeader.check(file);
            if (header == RollFileHeader.Verdict.BAD) {
                return Start.unusable(
                        cycle,
                        false,
                        "doesn't begin as a roll file does, or was not finished being made: " + size
                                + " bytes that can't be served");
            }
            try (RollFileScan scan = new RollFileScan(file, excerptBytesMax)) {
                return start(cycle, scan, size, header == RollFileHeader.Verdict.GOOD);
            }
        } catch (NoSuchFileException e) {
            return Start.unusable(cycle, true, "went away while it was checked");
        } catch (IOException e) {
            return Start.unusable(
                    cycle, true, String.valueOf(Disk.failed("can't be read", e).getMessage()));
        }
    }

    private Start start(int cycle, RollFileScan scan, long size, boolean headerGood) throws IOException {
        int fileBefore = RollFiles.NONE;
        long eventsBefore = -1;
        Position lastBefore = Position.ZERO;
        int content = cycle;
        for (int i = 0; i < FIRST_EVENT_WITHIN; i++) {
            RollFileScan.Found found = scan.read();
            if (found == RollFileScan.Found.END) {
                break;
            }
            if (found == RollFileScan.Found.EXCERPT && scan.excerpt().isEvent()) {
                content = folder.files().cycleOf(scan.excerpt().key());
                break;
            }
            if (found == RollFileScan.Found.EXCERPT
                    && scan.number() == 0
                    && scan.excerpt().isWaypoint()) {
                fileBefore = scan.excerpt().fileBefore();
                eventsBefore = scan.excerpt().eventsBefore();
                lastBefore = scan.excerpt().key();
            }
        }
        long last = scan.index().lastPlace();
        return new Start(
                cycle, content, fileBefore, eventsBefore, lastBefore, last > 0 ? last : size, headerGood, false, "");
    }
}
