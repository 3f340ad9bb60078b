package dev.tidemark.server;

import dev.tidemark.archive.ArchiveCheck;
import dev.tidemark.archive.ArchiveException;
import dev.tidemark.archive.DataDirectory;
import dev.tidemark.archive.StreamRecord;
import dev.tidemark.archive.StreamRecords;
import dev.tidemark.event.CheckProgress;
import dev.tidemark.event.Finding;
import dev.tidemark.event.Position;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The check of a data directory that no server has: it keeps servers off while it reads, and writes nothing. All calls block; one
 * thread.
 */
public final class OfflineVerify implements AutoCloseable {
    private final DataDirectory.Reading data;
    private final StreamRecords.Listing listing;
    private @Nullable ArchiveCheck check;

    private OfflineVerify(DataDirectory.Reading data, StreamRecords.Listing listing) {
        this.data = data;
        this.listing = listing;
    }

    /**
     * Opens a data directory, or a copy of one.
     *
     * @throws ConfigurationException if there is none, or a server has it
     */
    public static OfflineVerify open(Path directory) {
        DataDirectory.Reading data;
        try {
            data = DataDirectory.openToRead(directory);
        } catch (DataDirectory.Refused e) {
            throw new ConfigurationException(
                    e.locked()
                            ? e.getMessage() + "; let that server check it: tidemark verify --url URL"
                            : String.valueOf(e.getMessage()));
        }
        boolean opened = false;
        try {
            OfflineVerify verify = new OfflineVerify(data, new StreamRecords(data.archive()).look());
            opened = true;
            return verify;
        } catch (ArchiveException e) {
            throw new ConfigurationException(String.valueOf(e.getMessage()));
        } finally {
            if (!opened) {
                data.close();
            }
        }
    }

    /** Names of the streams, in their order. */
    public List<String> streams() {
        return listing.streams().stream()
                .map(record -> record.id().name().value())
                .toList();
    }

    /** Folders of streams that can't be understood: nothing of them is served. */
    public List<Finding> badFolders() {
        List<Finding> findings = new ArrayList<>();
        listing.bad()
                .forEach(bad -> findings.add(new Finding(
                        Finding.Kind.UNREADABLE, bad.folder().toString(), Finding.NONE, Position.ZERO, bad.reason())));
        return findings;
    }

    /** Begins with a stream, one of {@link #streams}. */
    public void begin(String stream) {
        endCheck();
        StreamRecord record = listing.streams().stream()
                .filter(known -> known.id().name().value().equals(stream))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no stream " + stream));
        check = ArchiveCheck.of(data.archive(), record);
    }

    /** Goes on with the stream, a bounded part. */
    public CheckProgress next() {
        return Objects.requireNonNull(check, "begin() comes first").next();
    }

    private void endCheck() {
        ArchiveCheck open = check;
        check = null;
        if (open != null) {
            open.close();
        }
    }

    @Override
    public void close() {
        endCheck();
        data.close();
    }
}
