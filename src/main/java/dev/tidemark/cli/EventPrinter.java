package dev.tidemark.cli;

import dev.tidemark.client.Event;
import dev.tidemark.client.Gap;
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

    /** Prints one event of a subscription. */
    void print(Event event) {
        byte[] json = event.json();
        print(json, JsonFields.of(json));
    }

    /** Prints one line: an event, or something about the stream. */
    private void print(byte[] line, JsonFields fields) {
        String type = fields.text("type", "event");
        switch (type) {
            case "event" -> {
                terminal.print(form.print(line, fields));
                printed++;
            }
            case "gap" ->
                terminal.note(text(new Gap(
                        fields.text("from"),
                        fields.text("to"),
                        fields.text("reason", "unknown reason"),
                        fields.text("earliest"))));
            case "error" -> error = new Refusal((int) fields.number("status", 0), fields).text();
            default -> {
                // what a later server may say besides
            }
        }
        cursor = fields.text("cursor", cursor);
    }

    /** A gap in words. */
    static String text(Gap gap) {
        String from = gap.from() == null ? "the start" : gap.from();
        return "gap: events from " + from + " to " + (gap.to() == null ? "?" : gap.to()) + " can't be given ("
                + gap.reason() + ")" + (gap.earliest() == null ? "" : "; the earliest is " + gap.earliest());
    }
}
