package dev.tidemark.loadtest.compare;

import java.util.List;

/** A table in Markdown, a row after the other. */
final class Table {
    private final StringBuilder text = new StringBuilder();

    Table(String... titles) {
        row(titles);
        text.append('|').append("---|".repeat(titles.length)).append('\n');
    }

    void row(String... cells) {
        text.append("| ").append(String.join(" | ", List.of(cells))).append(" |\n");
    }

    @Override
    public String toString() {
        return text.toString();
    }
}
