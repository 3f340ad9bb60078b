package dev.tidemark.read;

/** Which events a read sees. */
public enum View {
    /** Every acknowledged event; those above the frontier are marked provisional. */
    LIVE,
    /** Up to the frontier: final. */
    SEALED
}
