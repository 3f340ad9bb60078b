package dev.tidemark.loadtest.system;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What the figures were taken on. */
public final class Machine {
    private Machine() {}

    public static String processor() throws IOException {
        String name = found("/proc/cpuinfo", "model name\\s*:\\s*(.+)");
        return name.isEmpty() ? System.getProperty("os.arch") : name;
    }

    /** Processor, cores, memory, system, Java, and the kind of file system that a directory lies on. */
    public static String description(Path directory) throws IOException {
        String kilobytes = found("/proc/meminfo", "MemTotal:\\s*(\\d+)");
        String memory = kilobytes.isEmpty()
                ? ""
                : String.format(Locale.ROOT, "%.0f GiB of memory, ", Long.parseLong(kilobytes) / (double) (1 << 20));
        return processor() + ", " + Runtime.getRuntime().availableProcessors() + " cores, " + memory
                + System.getProperty("os.name") + " " + System.getProperty("os.version") + ", Java "
                + System.getProperty("java.version") + ", data on "
                + Files.getFileStore(directory).type();
    }

    private static String found(String file, String pattern) throws IOException {
        Path path = Path.of(file);
        Matcher matcher = Pattern.compile(pattern).matcher(Files.isReadable(path) ? Files.readString(path) : "");
        return matcher.find() ? matcher.group(1) : "";
    }
}
