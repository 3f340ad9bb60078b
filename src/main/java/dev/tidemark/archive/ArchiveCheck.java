package dev.tidemark.archive;

import dev.tidemark.event.CheckProgress;
import dev.tidemark.event.Finding;
import dev.tidemark.event.Finding.Kind;
import dev.tidemark.event.Position;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Checks the archive of one stream from its first file to its last, a bounded part with each {@link #next}, in memory that doesn't
 * grow with the archive: the CRC of each excerpt, rising ids, ordinals that are there or accounted for, and that each file continues
 * the one before, so that a file that is missing, exchanged or another stream's shows. It doesn't use the queue library, which could
 * write or repair, and never writes. It blocks, one thread at a time; other threads may append meanwhile.
 */
public final class ArchiveCheck implements AutoCloseable {
    /** Excerpts that one call of {@link #next} looks at. */
    private static final int STEP_EXCERPTS = 50_000;

    private static final long STEP_BYTES = 16 << 20;
    private static final int STEP_FILES = 64;

    /** How an archive may be. */
    private enum State {
        LISTING,
        STARTS,
        FILES,
        DONE
    }

    private final ArchiveFolder folder;
    private final int excerptBytesMax;
    private final Proven proven;
    private final CheckedFiles files;
    private final ArchiveWalk walk;
    private final Consumer<Finding> told;
    private final List<Finding> found = new ArrayList<>();

    private State state = State.LISTING;
    private int[] cycles = new int[0];
    private final List<CheckedFiles.Start> starts = new ArrayList<>();
    private int file;
    private @Nullable RollFileScan scan;
    private long bytesOfEarlier;
    private long bytesTotal;
    private int filesSeen;

    /**
     * @param proven up to where the archive must be good
     * @param pruned whether its oldest files may have been removed by its own settings
     * @param told gets each finding too
     */
    ArchiveCheck(ArchiveFolder folder, int excerptBytesMax, Proven proven, boolean pruned, Consumer<Finding> told) {
        this.folder = folder;
        this.excerptBytesMax = excerptBytesMax;
        this.proven = proven;
        files = new CheckedFiles(folder, excerptBytesMax);
        this.told = told;
        walk = new ArchiveWalk(folder.files(), proven, pruned, found::add);
    }

    /**
     * A check of files that no server has open: a stopped one's, or a copy.
     *
     * @param root {@code <data>/archive}
     */
    public static ArchiveCheck of(Path root, StreamRecord record) {
        ArchiveFolder folder = new ArchiveFolder(Archive.folderOf(root, record.id()), record.rollFiles());
        boolean pruned = record.isPruned();
        return new ArchiveCheck(
                folder, Archive.EXCERPT_BYTES_CEILING, Proven.byMarker(folder.path()), pruned, finding -> {});
    }

    /** Goes on a bounded part. After {@link CheckProgress#end} there is nothing more. */
    public CheckProgress next() {
        found.clear();
        try {
            switch (state) {
                case LISTING -> list();
                case STARTS -> lookAtStarts();
                case FILES -> walkOn();
                case DONE -> {}
            }
        } catch (IOException e) {
            throw Disk.failed("the archive in " + folder + " can't be listed", e);
        }
        found.forEach(told);
        RollFileScan open = scan;
        return new CheckProgress(
                found,
                state == State.DONE,
                filesSeen,
                bytesOfEarlier + (open == null ? 0 : open.position()),
                bytesTotal,
                walk.eventsRead(),
                walk.first(),
                walk.last());
    }

    private void list() throws IOException {
        cycles = folder.cycles();
        found.addAll(files.others());
        state = State.STARTS;
    }

    private void lookAtStarts() {
        for (int i = 0; i < STEP_FILES && starts.size() < cycles.length; i++) {
            CheckedFiles.Start start = files.start(cycles[starts.size()]);
            starts.add(start);
            bytesTotal += start.bytes();
        }
        if (starts.size() == cycles.length) {
            judgeStarts();
            starts.sort(Comparator.comparingInt(CheckedFiles.Start::content)
                    .thenComparing(start -> start.cycle() != start.content())
                    .thenComparingInt(CheckedFiles.Start::cycle));
            state = State.FILES;
        }
    }

    private void judgeStarts() {
        Set<Integer> there = new HashSet<>();
        for (CheckedFiles.Start start : starts) {
            if (start.isUsable()) {
                there.add(start.content());
            } else {
                walk.unusable(start, start.cycle() == cycles[cycles.length - 1]);
            }
            if (start.content() != start.cycle()) {
                found.add(new Finding(
                        Kind.SWAPPED,
                        folder.files().fileName(start.cycle()),
                        Finding.NONE,
                        Position.ZERO,
                        "holds what belongs into " + folder.files().fileName(start.content())
                                + ": it was exchanged or renamed"));
            }
        }
        starts.removeIf(start -> !start.isUsable());
        walk.files(there, there.stream().mapToInt(Integer::intValue).max().orElse(RollFiles.NONE));
    }

    private void walkOn() {
        for (long excerpts = 0, began = position(); excerpts < STEP_EXCERPTS && position() - began < STEP_BYTES; ) {
            if (file == starts.size()) {
                walk.end();
                state = State.DONE;
                return;
            }
            excerpts += step(starts.get(file));
        }
    }

    private long position() {
        RollFileScan open = scan;
        return bytesOfEarlier + (open == null ? 0 : open.position());
    }

    /** One excerpt of a file, or its beginning or end. */
    private long step(CheckedFiles.Start start) {
        try {
            RollFileScan open = scan;
            if (open == null) {
                filesSeen++;
                scan = new RollFileScan(folder.file(start.cycle()), excerptBytesMax);
                walk.begin(start, scan.index().lastKnown());
            } else if (proven.reaches(start.content(), open.next())) {
                walk.endOfFile(open, true);
                closeFile(start);
            } else {
                switch (open.read()) {
                    case EXCERPT -> walk.excerpt(open);
                    case DAMAGED -> walk.damaged(open);
                    case END -> {
                        walk.endOfFile(open, false);
                        closeFile(start);
                    }
                }
            }
        } catch (IOException e) {
            walk.unreadable(String.valueOf(Disk.failed("can't be read", e).getMessage()));
            closeFile(start);
        }
        return 1;
    }

    private void closeFile(CheckedFiles.Start start) {
        close();
        bytesOfEarlier += start.bytes();
        file++;
    }

    /** Ends the check; not needed after its end. */
    @Override
    public void close() {
        RollFileScan open = scan;
        scan = null;
        if (open != null) {
            try {
                open.close();
            } catch (IOException e) {
                throw Disk.failed("a file of " + folder + " can't be closed", e);
            }
        }
    }
}
