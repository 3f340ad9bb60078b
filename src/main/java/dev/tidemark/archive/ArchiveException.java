package dev.tidemark.archive;

import org.jspecify.annotations.Nullable;

/** The archive of a stream couldn't be written, forced or read. */
public final class ArchiveException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** What is in the way. */
    public enum Kind {
        /** No space left for a slice. */
        DISK_FULL,
        /** The file system refused, or a force failed. */
        IO,
        /** What is on disk can't be trusted. */
        DAMAGED,
        /** The slice itself is wrong: nothing was written. */
        SLICE_REFUSED,
        /** Closed, or deleted. */
        CLOSED
    }

    private final Kind kind;

    public ArchiveException(Kind kind, String message) {
        this(kind, message, null);
    }

    public ArchiveException(Kind kind, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.kind = kind;
    }

    public Kind kind() {
        return kind;
    }
}
