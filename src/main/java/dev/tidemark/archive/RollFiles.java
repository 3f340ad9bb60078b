package dev.tidemark.archive;

import dev.tidemark.event.Position;
import dev.tidemark.event.StreamSettings;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import net.openhft.chronicle.queue.RollCycle;
import net.openhft.chronicle.queue.RollCycles;

/**
 * Names and time ranges of roll files. A cycle is the number of a roll file: the hours or days from 1970 (UTC) to the start of the
 * range that it covers.
 */
enum RollFiles {
    DAILY(RollCycles.FAST_DAILY, 86_400_000, "uuuuMMdd'F'"),
    HOURLY(RollCycles.FAST_HOURLY, 3_600_000, "uuuuMMdd-HH'F'");

    static final String SUFFIX = ".cq4";
    /** Stands for "no file". */
    static final int NONE = -1;
    /** Names have years of four digits. */
    private static final long LAST_MS = 253_402_300_799_999L;

    @SuppressWarnings("ImmutableEnumChecker") // an enum constant
    private final RollCycle rollCycle;

    private final long lengthMs;

    @SuppressWarnings("ImmutableEnumChecker") // it is
    private final DateTimeFormatter format;

    RollFiles(RollCycle rollCycle, long lengthMs, String pattern) {
        this.rollCycle = rollCycle;
        this.lengthMs = lengthMs;
        format = DateTimeFormatter.ofPattern(pattern, Locale.ROOT).withZone(ZoneOffset.UTC);
    }

    static RollFiles of(StreamSettings.Roll roll) {
        return switch (roll) {
            case DAILY -> DAILY;
            case HOURLY -> HOURLY;
        };
    }

    RollCycle rollCycle() {
        return rollCycle;
    }

    int cycleOf(Position id) {
        return (int) (Math.min(id.ms(), LAST_MS) / lengthMs);
    }

    /** First millisecond of the cycle's range. */
    long startMs(int cycle) {
        return cycle * lengthMs;
    }

    /** Last position of the cycle's range. */
    Position last(int cycle) {
        return cycle >= LAST_MS / lengthMs ? Position.MAX : Position.before((cycle + 1L) * lengthMs);
    }

    String fileName(int cycle) {
        return format.format(Instant.ofEpochMilli(startMs(cycle))) + SUFFIX;
    }

    /** The cycle of a file, or {@link #NONE} if it isn't called like a roll file. */
    int cycleOf(String fileName) {
        if (!fileName.endsWith(SUFFIX) || !fileName.matches("\\d{8}(-\\d\\d)?F\\.cq4")) {
            return NONE;
        }
        try {
            long day = LocalDate.parse(fileName.substring(0, 8), DateTimeFormatter.BASIC_ISO_DATE)
                    .toEpochDay();
            long hour = fileName.charAt(8) == '-' ? Integer.parseInt(fileName, 9, 11, 10) : 0;
            long cycle = (day * 24 + hour) * 3_600_000 / lengthMs;
            return cycle >= 0 && fileName.equals(fileName((int) cycle)) ? (int) cycle : NONE;
        } catch (DateTimeException e) {
            return NONE;
        }
    }
}
