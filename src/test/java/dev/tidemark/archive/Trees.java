package dev.tidemark.archive;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Folders with all that is in them, for tests. Roll files are full of holes: a copy keeps them, or it would fill a disk. */
public final class Trees {
    private Trees() {}

    /** Copies what is in a folder into another, which is made with its parents; what is there already is written over. */
    public static void copy(Path from, Path to) {
        try {
            Files.createDirectories(to);
            Process copy = new ProcessBuilder("cp", "-a", "--sparse=always", "-T", from.toString(), to.toString())
                    .redirectErrorStream(true)
                    .start();
            try (InputStream said = copy.getInputStream()) {
                String text = new String(said.readAllBytes(), StandardCharsets.UTF_8);
                if (copy.waitFor() != 0) {
                    throw new IOException(text);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }

    /** Removes a folder; what is gone already is no error. */
    public static void delete(Path root) {
        try {
            Disk.deleteTree(root);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
