package dev.tidemark.server;

import dev.tidemark.archive.ArchiveTroubles;
import dev.tidemark.archive.StreamArchive;
import dev.tidemark.event.Limits;
import dev.tidemark.http.Health.Status;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Watches what the server needs of disks: room, and that they can be written. The fold itself asks for room before each slice and stops
 * in time; this says so, and warns before. {@link #look} blocks and runs on a worker; the rest may be asked by any thread.
 */
final class DiskWatch {
    /** With less a large slice, or its file written anew, can't be folded any more. */
    private static final long FOLD_BYTES_MIN = StreamArchive.FREE_BYTES_MIN + 2 * Limits.SLICE_BYTES_MAX;
    /** Whoever has less than that is warned. */
    private static final long WARN_BYTES = 4 * FOLD_BYTES_MIN;

    private static final int FILES_NAMED = 5;

    private final Path data;
    private final Path archive;
    private final ArchiveTroubles troubles;

    /** What the last look gave. */
    private volatile State state = new State(Status.OK, "");

    /** How the disks are. */
    record State(Status status, String detail) {}

    /** @param archive root of the archives, perhaps on another disk than {@code data} */
    DiskWatch(Path data, Path archive, ArchiveTroubles troubles) {
        this.data = data;
        this.archive = archive;
        this.troubles = troubles;
    }

    /** Room first, then files that are missing or damaged. */
    State state() {
        State room = state;
        if (room.status() == Status.FAILING || troubles.isEmpty()) {
            return room;
        }
        List<ArchiveTroubles.Trouble> all = troubles.all();
        String named = all.stream().limit(FILES_NAMED).map(Object::toString).collect(Collectors.joining("; "));
        String more = all.size() > FILES_NAMED ? "; and " + (all.size() - FILES_NAMED) + " more" : "";
        return new State(
                Status.WARNING,
                "files of archives are missing or damaged, what they held is announced as gaps: " + named + more
                        + (room.detail().isEmpty() ? "" : "; " + room.detail()));
    }

    /** Looks how much room there is. */
    void look() {
        try {
            State ofArchive = room(archive, "folding");
            State ofData =
                    Files.getFileStore(data).equals(Files.getFileStore(archive)) ? ofArchive : room(data, "the server");
            state = ofData.status().compareTo(ofArchive.status()) > 0 ? ofData : ofArchive;
        } catch (IOException e) {
            state = new State(Status.FAILING, "the data directory " + data + " can't be looked at: " + e);
        }
    }

    private static State room(Path directory, String who) throws IOException {
        FileStore store = Files.getFileStore(directory);
        if (store.isReadOnly() || !Files.isWritable(directory)) {
            return new State(Status.FAILING, directory + " can't be written");
        }
        long free = store.getUsableSpace();
        String room = (free >> 20) + " MiB are free for " + directory;
        if (free < FOLD_BYTES_MIN) {
            return new State(
                    Status.FAILING,
                    "only " + room + "; " + who + " needs " + (FOLD_BYTES_MIN >> 20)
                            + " MiB, and goes on when there are more");
        }
        return free < WARN_BYTES && free < store.getTotalSpace() / 2
                ? new State(
                        Status.WARNING, "only " + room + "; below " + (FOLD_BYTES_MIN >> 20) + " MiB " + who + " stops")
                : new State(Status.OK, "");
    }
}
