package dev.tidemark.cli;

import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** What {@code verify} prints: each finding on a line, then how each stream is; progress if somebody watches. */
final class VerifyReport {
    private static final long PROGRESS_NS = TimeUnit.MILLISECONDS.toNanos(200);

    private final Terminal terminal;
    private String stream = "";
    private long damages;
    private long damagesOfStream;
    private long streams;
    private long shownNs;
    private boolean shown;

    VerifyReport(Terminal terminal) {
        this.terminal = terminal;
    }

    /** Damages found in all streams. */
    long damages() {
        return damages;
    }

    void begin(String name) {
        stream = name;
        damagesOfStream = 0;
        shown = false;
        streams++;
    }

    /**
     * @param damage false for what only is to be known
     * @param file name of the file, or null
     */
    void finding(boolean damage, String kind, @Nullable String file, @Nullable String event, String what) {
        if (damage) {
            damages++;
            damagesOfStream++;
        }
        terminal.clearProgress();
        boolean named = event == null || what.contains(event);
        terminal.print((stream.isEmpty() ? "" : stream + ": ") + kind + ": "
                + (file == null || file.isEmpty() ? "" : file + ": ") + (named ? "" : event + ": ")
                + what.replaceAll("\\p{Cntrl}+", " ") + "\n");
        terminal.flush();
    }

    /** Shown some times a second, and once for every stream. */
    void progress(long bytes, long bytesTotal, long events) {
        long nowNs = System.nanoTime();
        if (shown && nowNs - shownNs < PROGRESS_NS) {
            return;
        }
        shown = true;
        shownNs = nowNs;
        long percent = bytesTotal <= 0 ? 0 : Math.min(100, bytes * 100 / bytesTotal);
        terminal.progress("verifying " + stream + ": " + percent + "%, " + events + " events");
    }

    /** @param compared events that were compared with the live log; negative if that isn't done */
    void end(long files, long events, long bytes, @Nullable String first, @Nullable String last, long compared) {
        terminal.clearProgress();
        String range = first == null || last == null ? "" : ", " + first + " to " + last;
        String live = compared < 0 ? "" : ", " + compared + " compared with the live log";
        terminal.print(stream + ": "
                + (damagesOfStream == 0 ? "good" : findings(damagesOfStream)) + ", " + events + " events in " + files
                + (files == 1 ? " file" : " files")
                + String.format(Locale.ROOT, " (%.1f MB)", bytes / 1e6) + range + live + "\n");
        terminal.flush();
    }

    /** The last line, if there is more than one stream. */
    void endAll() {
        if (streams != 1) {
            terminal.print(streams + " streams: " + (damages == 0 ? "all good" : findings(damages)) + "\n");
        }
        terminal.flush();
    }

    private static String findings(long count) {
        return count + (count == 1 ? " finding" : " findings");
    }
}
