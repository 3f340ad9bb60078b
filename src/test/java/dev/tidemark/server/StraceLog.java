package dev.tidemark.server;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What {@code strace -f -y -o FILE} wrote: system calls with the lines at which they began and ended. Two calls of different threads
 * are in order if one ended on a line before that on which the other began.
 */
final class StraceLog {
    private static final Pattern LINE = Pattern.compile("(\\d+)\\s+(.*)");
    private static final Pattern RESUMED = Pattern.compile("<\\.\\.\\. (\\w+) resumed>(.*)");
    private static final Pattern CALL = Pattern.compile("(\\w+)\\((.*)");
    private static final String UNFINISHED = "<unfinished ...>";

    private final List<Call> calls = new ArrayList<>();
    private final Map<Integer, Begun> unfinished = new HashMap<>();

    /**
     * One system call.
     *
     * @param name {@code fsync}
     * @param arguments what stood between the parentheses, file descriptors with their paths: {@code 5</a/b>}
     * @param result what stood behind the equals sign: {@code 0}, {@code -1 EIO (Input/output error)}; empty if it never ended
     * @param begin number of the line on which it began
     * @param end number of the line on which it ended; {@link Integer#MAX_VALUE} if it never did
     */
    record Call(String name, String arguments, String result, int begin, int end) {
        boolean succeeded() {
            return result.equals("0");
        }

        /** Whether its file descriptor is that file. */
        boolean isOn(Path file) {
            return arguments.matches("\\d+<" + Pattern.quote(file.toString()) + ">.*");
        }

        /** Whether it waits until a file is on disk. */
        boolean forces() {
            return name.equals("fsync")
                    || name.equals("fdatasync")
                    || (name.equals("msync") && arguments.contains("MS_SYNC"));
        }

        /** Whether it sends bytes to a socket, that text among them; upper and lower case are the same. */
        boolean sends(String text) {
            boolean writes = name.startsWith("write") || name.startsWith("send");
            return writes
                    && arguments.matches("\\d+<(socket|TCP|TCPv6|UNIX).*")
                    && arguments.toLowerCase(Locale.ROOT).contains(text.toLowerCase(Locale.ROOT));
        }
    }

    private record Begun(String name, String arguments, int line) {}

    private StraceLog() {}

    static StraceLog read(Path file) throws IOException {
        return of(Files.readAllLines(file, StandardCharsets.ISO_8859_1));
    }

    static StraceLog of(List<String> lines) {
        StraceLog log = new StraceLog();
        for (int i = 0; i < lines.size(); i++) {
            Matcher line = LINE.matcher(lines.get(i));
            if (line.matches()) {
                log.line(Integer.parseInt(line.group(1)), line.group(2), i);
            }
        }
        log.unfinished
                .values()
                .forEach(begun ->
                        log.calls.add(new Call(begun.name(), begun.arguments(), "", begun.line(), Integer.MAX_VALUE)));
        return log;
    }

    private void line(int thread, String text, int number) {
        Matcher resumed = RESUMED.matcher(text);
        if (resumed.matches()) {
            Begun begun = unfinished.remove(thread);
            if (begun == null || !begun.name().equals(resumed.group(1))) {
                throw new IllegalStateException("line " + number + " resumes what didn't begin: " + text);
            }
            ended(begun, begun.arguments() + resumed.group(2), number);
            return;
        }
        Matcher call = CALL.matcher(text);
        if (!call.matches()) {
            return;
        }
        Begun begun = new Begun(call.group(1), call.group(2), number);
        if (text.endsWith(UNFINISHED)) {
            String arguments = begun.arguments().substring(0, begun.arguments().length() - UNFINISHED.length());
            unfinished.put(thread, new Begun(begun.name(), arguments, number));
        } else {
            ended(begun, begun.arguments(), number);
        }
    }

    private void ended(Begun begun, String rest, int line) {
        int equals = rest.lastIndexOf(") ");
        String arguments = equals < 0 ? rest : rest.substring(0, equals);
        String result = equals < 0 ? "" : rest.substring(equals + 2).trim();
        calls.add(new Call(
                begun.name(),
                arguments,
                result.startsWith("= ") ? result.substring(2).trim() : "",
                begun.line(),
                line));
    }

    /** In the order in which they ended. */
    List<Call> calls() {
        return calls;
    }
}
