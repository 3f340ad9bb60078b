package dev.tidemark.ingest;

/** A body that isn't what its type says, and where. It carries no stack trace; {@link BodyParser} makes a problem of it. */
final class MalformedBody extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int offset;
    private final String reason;

    /**
     * @param offset index into the decoded body
     * @param reason what is wrong there
     */
    MalformedBody(int offset, String reason) {
        super(reason, null, false, false);
        this.offset = offset;
        this.reason = reason;
    }

    int offset() {
        return offset;
    }

    String reason() {
        return reason;
    }
}
