package dev.tidemark.server;

/**
 * A point of an append or of the fold (DESIGN.md section 7) at which a fault is laid: the entry of a method of the server.
 *
 * <p>A method that is renamed is renamed here too: {@link Breakpoints} fails when it doesn't find one.
 */
enum NamedPoint {
    APPEND_TO_SEND("append: before XADD", "livelog.RedisAppender", "append", 40),
    APPEND_STORED("append: stored, not answered", "keeper.StripeKeeper", "acknowledged", 40),
    SLICE_CHECKED("fold 2: slice checked", "archive.StreamArchive", "append", 5),
    SLICE_HALF_WRITTEN("fold 3: within a slice", "archive.Tail", "event", 400),
    SLICE_WRITTEN("fold 3: slice written", "archive.StreamArchive", "force", 5),
    FILES_FORCED("fold 4: files forced", "archive.StreamArchive", "publish", 5),
    WATERMARK_PUBLISHED("fold 5: W published", "fold.FoldCycle", "copySeam", 5),
    WATERMARK_COPIED("fold 6: W copied", "fold.StreamFold", "copied", 5),
    BEFORE_TRIM("fold 7: before XTRIM", "livelog.RedisLiveLog", "trim", 5),
    AFTER_TRIM("fold 7: after XTRIM", "fold.LiveSpans", "trimmed", 5);

    private final String title;
    private final String type;
    private final String method;
    private final int passageMax;

    NamedPoint(String title, String type, String method, int passageMax) {
        this.title = title;
        this.type = "dev.tidemark." + type;
        this.method = method;
        this.passageMax = passageMax;
    }

    String title() {
        return title;
    }

    String type() {
        return type;
    }

    String method() {
        return method;
    }

    /** Up to which passage it is drawn. */
    int passageMax() {
        return passageMax;
    }
}
