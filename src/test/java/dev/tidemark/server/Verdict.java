package dev.tidemark.server;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The table at the end of the crash harness. */
final class Verdict {
    private static final String HEAD = "%-58s %6s %9s %5s %8s %12s %6s %5s %13s%n";
    private static final String LINE = "%-58s %6d %9d %5d %8d %12d %6d %5d %10d ms%n";

    private final Map<String, Row> rows = new HashMap<>();
    private final List<String> details = new ArrayList<>();

    private static final class Row {
        private int rounds;
        private long acked;
        private long lost;
        private long repeated;
        private long disordered;
        private long watermarksBack;
        private long others;
        private long recoveryMsMax;

        private void add(Row more) {
            rounds += more.rounds;
            acked += more.acked;
            lost += more.lost;
            repeated += more.repeated;
            disordered += more.disordered;
            watermarksBack += more.watermarksBack;
            others += more.others;
            recoveryMsMax = Math.max(recoveryMsMax, more.recoveryMsMax);
        }

        private String line(String title) {
            return String.format(
                    Locale.ROOT,
                    LINE,
                    title,
                    rounds,
                    acked,
                    lost,
                    repeated,
                    disordered,
                    watermarksBack,
                    others,
                    recoveryMsMax);
        }
    }

    /** @param acked events acknowledged in the round */
    void add(String title, long acked, long recoveryMs, Ledger ledger) {
        Row row = new Row();
        row.rounds = 1;
        row.acked = acked;
        row.recoveryMsMax = recoveryMs;
        count(row, ledger);
        rows.computeIfAbsent(title, t -> new Row()).add(row);
        ledger.details().forEach(detail -> details.add(title + ": " + detail));
    }

    /** What is found where no fault was laid. */
    void add(String title, Ledger ledger) {
        Row row = new Row();
        count(row, ledger);
        rows.computeIfAbsent(title, t -> new Row()).add(row);
        ledger.details().forEach(detail -> details.add(title + ": " + detail));
    }

    private static void count(Row row, Ledger ledger) {
        row.lost = ledger.lost();
        row.repeated = ledger.repeated();
        row.disordered = ledger.disordered();
        row.watermarksBack = ledger.watermarksBack();
        row.others = ledger.others();
    }

    boolean isClean() {
        return details.isEmpty();
    }

    /** The table and the first findings in words. */
    String text() {
        StringBuilder text = new StringBuilder(String.format(
                Locale.ROOT,
                HEAD,
                "fault",
                "rounds",
                "acked",
                "lost",
                "repeated",
                "out of order",
                "W back",
                "other",
                "slowest"));
        List<String> titles = new ArrayList<>(Fault.titles());
        rows.keySet().stream().filter(title -> !titles.contains(title)).forEach(titles::add);
        Row total = new Row();
        for (String title : titles) {
            Row row = rows.get(title);
            if (row != null) {
                text.append(row.line(title));
                total.add(row);
            }
        }
        text.append(total.line("all"));
        details.forEach(detail -> text.append(detail).append('\n'));
        return text.append(isClean() ? "nothing is wrong" : "SOMETHING IS WRONG")
                .toString();
    }
}
