package dev.tidemark.cli;

import dev.tidemark.client.wire.JsonFields;
import dev.tidemark.client.wire.LineReader;
import java.io.IOException;
import java.io.InputStream;

/** Prints what the server sends, line by line: events to the output, control lines as notes. */
final class EventPrinter {
    /** An event and its envelope; far above any limit that a server can have. */
    private static final int LINE_BYTES_MAX = 128 << 20;

    private static final int PROGRESS_EVERY = 1_000;

    private final Terminal terminal;
    private final EventForm form;
    private long printed;
    private String cursor = "";
    private String error = "";

    EventPrinter(Terminal terminal, EventForm form) {
        this.terminal = terminal;
        this.form = form;
    }

    /** Events printed so far. */
    long printed() {
        return printed;
    }

    /** Cursor of what was printed last, or empty. */
    String cursor() {
        return cursor;
    }

    /** What the server said was wrong since this was asked last, or empty. */
    String takeError() {
        String taken = error;
        error = "";
        return taken;
    }

    /**
     * Prints a whole NDJSON answer.
     *
     * @throws CommandFailure if it was cut, or isn't complete
     */
    void printAnswer(InputStream answer) {
        JsonFields end = null;
        try (answer) {
            LineReader lines = new LineReader(answer, LINE_BYTES_MAX);
            for (byte[] line = lines.next(); line != null; line = lines.next()) {
                JsonFields fields = JsonFields.of(line);
                if (fields.text("type", "").equals("end")) {
                    end = fields;
                } else {
                    print(line, fields);
                }
                showProgress();
            }
        } catch (IOException | JsonFields.Malformed e) {
            throw cut(String.valueOf(e.getMessage()));
        }
        terminal.clearProgress();
        terminal.flush();
        if (end == null) {
            throw cut("it has no end line");
        }
        if (!end.isTrue("complete")) {
            throw CommandFailure.refused("the answer isn't complete: the server couldn't give everything now ("
                    + printed + " events, cursor " + end.text("cursor", "none") + ")");
        }
    }

    private CommandFailure cut(String reason) {
        terminal.clearProgress();
        terminal.flush();
        String last = cursor.isEmpty() ? "" : "; the last cursor is " + cursor;
        return CommandFailure.refused(
                "the answer was cut after " + printed + " events: " + (error.isEmpty() ? reason : error) + last);
    }

    private void showProgress() {
        if (printed % PROGRESS_EVERY == 0 && !terminal.outIsTerminal()) {
            terminal.progress(printed + " events");
        }
    }

    /** Prints one line or message: an event, or something about the stream. */
    void print(byte[] line, JsonFields fields) {
        String type = fields.text("type", "event");
        switch (type) {
            case "event" -> {
                terminal.print(form.print(line, fields));
                printed++;
            }
            case "gap" -> terminal.note(gap(fields));
            case "error" -> error = new Refusal((int) fields.number("status", 0), fields).text();
            default -> {
                // what a later server may say besides
            }
        }
        cursor = fields.text("cursor", cursor);
    }

    private static String gap(JsonFields gap) {
        String earliest = gap.text("earliest");
        return "gap: events from " + gap.text("from", "the start") + " to " + gap.text("to", "?") + " can't be given ("
                + gap.text("reason", "unknown reason") + ")"
                + (earliest == null ? "" : "; the earliest is " + earliest);
    }
}
