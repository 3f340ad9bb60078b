package dev.tidemark.archive;

import dev.tidemark.event.Limits;
import dev.tidemark.event.Setting;
import dev.tidemark.event.StreamId;
import dev.tidemark.event.StreamName;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;

/** The archive on disk keeps the contract. */
class StreamArchiveIT extends ArchiveContract {
    @TempDir
    Path root;

    static final StreamRecord RECORD = new StreamRecord(
            new StreamId(new StreamName("quakes"), Sample.GENERATION),
            Map.of(Setting.STRIPES, 1L, Setting.ROLL, 0L),
            Sample.DAY,
            false);

    private final List<Archive> archives = new ArrayList<>();

    @AfterEach
    void close() {
        archives.forEach(Archive::close);
    }

    @Override
    ArchiveAppender create() {
        Archive archive = new Archive(root, Limits.DEFAULT);
        archives.add(archive);
        return archive.stream(RECORD);
    }

    /** The old one is left as it is: nothing is closed, nothing forced. */
    @Override
    ArchiveAppender reopen(ArchiveAppender archive) {
        return create();
    }
}
