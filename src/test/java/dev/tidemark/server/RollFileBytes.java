package dev.tidemark.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/** Roll files of a data directory as bytes, for damage from outside. Fault model: somebody changes, removes or exchanges files. */
final class RollFileBytes {
    private RollFileBytes() {}

    /** All roll files, oldest first. */
    static List<Path> all(Path data) {
        try (Stream<Path> files = Files.walk(data.resolve("archive"))) {
            return files.filter(file -> file.toString().endsWith(".cq4"))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static String name(Path file) {
        return String.valueOf(file.getFileName());
    }

    /** Where text stands for the first time. */
    static int find(byte[] bytes, String text) {
        byte[] wanted = text.getBytes(StandardCharsets.UTF_8);
        for (int i = 0; i + wanted.length <= bytes.length; i++) {
            if (Arrays.equals(bytes, i, i + wanted.length, wanted, 0, wanted.length)) {
                return i;
            }
        }
        throw new IllegalStateException(text + " isn't there");
    }

    /** Changes one bit of a payload. */
    static void flip(Path file, String payload) throws IOException {
        byte[] bytes = Files.readAllBytes(file);
        int at = find(bytes, payload) + payload.length() / 2;
        try (var channel = java.nio.channels.FileChannel.open(file, java.nio.file.StandardOpenOption.WRITE)) {
            byte[] one = {(byte) (bytes[at] ^ 1)};
            if (channel.write(java.nio.ByteBuffer.wrap(one), at) != 1) {
                throw new IOException("short write");
            }
        }
    }

    /** Puts the excerpt of one payload once more in the place of the next one's, which has the same length. */
    static void repeat(Path file, String payload, String next) throws IOException {
        byte[] bytes = Files.readAllBytes(file);
        int from = find(bytes, payload) + payload.length();
        int to = find(bytes, next) + next.length();
        int length = to - from;
        System.arraycopy(bytes, from - length, bytes, to - length, length);
        Files.write(file, bytes);
    }

    static void exchange(Path one, Path other) throws IOException {
        Path aside = one.resolveSibling("aside");
        Files.move(one, aside);
        Files.move(other, one);
        Files.move(aside, other);
    }
}
