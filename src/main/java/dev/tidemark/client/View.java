package dev.tidemark.client;

/** What a reader is shown. */
public enum View {
    /** All that is acknowledged. */
    LIVE,
    /** Only what stands in its final place. */
    SEALED;

    String text() {
        return this == LIVE ? "live" : "sealed";
    }
}
