package dev.tidemark.loadtest.system;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What Linux tells of a process. */
public final class ProcessFigures {
    /** Of {@code /proc/PID/stat}: the same on all of Linux's architectures. */
    private static final int TICKS_PER_SECOND = 100;
    /** Fields after the command's name: utime and stime. */
    private static final int USER_TICKS = 11;

    private static final int SYSTEM_TICKS = 12;
    private static final Pattern RESIDENT = Pattern.compile("VmRSS:\\s*(\\d+) kB");
    private static final Pattern PRIVATE = Pattern.compile("RssAnon:\\s*(\\d+) kB");

    private ProcessFigures() {}

    /** CPU time that a process has used since its start, in seconds. */
    public static double cpuSeconds(long pid) throws IOException {
        return cpuSeconds(Files.readString(Path.of("/proc", String.valueOf(pid), "stat")));
    }

    /** The command's name may hold spaces and brackets; what counts comes after the last bracket. */
    static double cpuSeconds(String stat) {
        List<String> fields =
                List.of(stat.substring(stat.lastIndexOf(')') + 1).trim().split(" ", -1));
        long ticks = Long.parseLong(fields.get(USER_TICKS)) + Long.parseLong(fields.get(SYSTEM_TICKS));
        return (double) ticks / TICKS_PER_SECOND;
    }

    /** Memory that a process has resident, pages of mapped files among it, in MiB. */
    public static double residentMiB(long pid) throws IOException {
        return mebibytes(pid, RESIDENT);
    }

    /** Memory of a process that isn't of files: heap, stacks, buffers; in MiB. */
    public static double anonymousMiB(long pid) throws IOException {
        return mebibytes(pid, PRIVATE);
    }

    private static double mebibytes(long pid, Pattern pattern) throws IOException {
        Matcher matcher = pattern.matcher(Files.readString(Path.of("/proc", String.valueOf(pid), "status")));
        return matcher.find() ? Long.parseLong(matcher.group(1)) / 1024.0 : 0;
    }
}
