package dev.tidemark.archive;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A quick look at an archive's folder: which files are missing, by what the starts of the others say. It reads the start of each file
 * and no more. Blocking.
 */
final class FolderLook {
    private static final int EXCERPT_BYTES_MAX = Archive.EXCERPT_BYTES_CEILING;

    private final ArchiveFolder folder;
    private final boolean pruned;

    /** @param pruned whether the oldest files may have been removed by the stream's own settings */
    FolderLook(ArchiveFolder folder, boolean pruned) {
        this.folder = folder;
        this.pruned = pruned;
    }

    /**
     * Changes when anything came to the folder or left it, the marker of a clean stop included, or the writer has gone to another file.
     *
     * @param cycle the writer's file, or {@link RollFiles#NONE} if nobody writes
     */
    long stamp(int cycle) throws IOException {
        try {
            return Files.getLastModifiedTime(folder.path()).toMillis() * 31 + cycle;
        } catch (NoSuchFileException e) {
            return 0;
        }
    }

    /**
     * What is wrong, by file.
     *
     * @param proven files above it are still being made, or are for recovery to judge
     */
    Map<String, String> run(Proven proven) throws IOException {
        Map<String, String> wrong = new TreeMap<>();
        CheckedFiles files = new CheckedFiles(folder, EXCERPT_BYTES_MAX);
        CheckedFiles.@Nullable Start before = null;
        int newest = RollFiles.NONE;
        for (int cycle : folder.cycles()) {
            if (cycle > proven.cycle()) {
                break;
            }
            newest = cycle;
            CheckedFiles.Start start = files.start(cycle);
            String name = folder.files().fileName(cycle);
            if (!start.isUsable()) {
                if (Files.exists(folder.file(cycle))) {
                    wrong.put(name, start.trouble());
                }
                continue;
            }
            if (start.content() != cycle) {
                wrong.put(name, "holds what belongs into " + folder.files().fileName(start.content()));
                continue;
            }
            if (start.eventsBefore() >= 0) {
                missing(before, start, wrong);
            }
            before = start;
        }
        boolean endGone = proven.cycle() != RollFiles.NONE && newest < proven.cycle();
        if (endGone && !wrong.containsKey(folder.files().fileName(proven.cycle()))) {
            wrong.put(
                    folder.files().fileName(proven.cycle()),
                    gone(proven.cycle()) + ": it held events up to " + ArchiveWalk.id(proven.last()));
        }
        return wrong;
    }

    private void missing(CheckedFiles.@Nullable Start before, CheckedFiles.Start start, Map<String, String> wrong) {
        int expected = start.fileBefore();
        boolean continues = before == null ? expected == RollFiles.NONE : expected == before.cycle();
        if (before == null && (pruned || start.eventsBefore() == 0)) {
            return;
        }
        if (expected == RollFiles.NONE && before == null) {
            wrong.put(
                    folder.files().fileName(start.cycle()),
                    "is the oldest; " + start.eventsBefore() + " events up to " + ArchiveWalk.id(start.lastBefore())
                            + " were in files that are gone");
        }
        if (continues || expected == RollFiles.NONE) {
            return;
        }
        String upTo = "events up to " + ArchiveWalk.id(start.lastBefore());
        wrong.putIfAbsent(
                folder.files().fileName(expected),
                before == null
                        ? gone(expected) + ", and all before it: " + start.eventsBefore() + " " + upTo
                        : gone(expected) + ": it held " + upTo);
    }

    private String gone(int cycle) {
        boolean aside = Files.exists(folder.path().resolve(folder.files().fileName(cycle) + ArchiveFolder.DAMAGED));
        return aside ? "couldn't be used and was put aside" : "is missing";
    }
}
