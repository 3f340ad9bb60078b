package dev.tidemark.loadtest.driver;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Tells apart the answers in the bytes of one connection, however these are cut. One thread. */
public interface Answers {
    /**
     * Consumes all that remains in the buffer.
     *
     * @return how many answers ended in it
     * @throws IOException for an answer that says no, or bytes that are none
     */
    int completed(ByteBuffer bytes) throws IOException;
}
