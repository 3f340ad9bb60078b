package dev.tidemark.ingest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tidemark.event.Problem;
import java.time.Instant;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class EventTimeTest {
    @ParameterizedTest
    @CsvSource({
        "2018-01-31T02:18:21.235Z,          1517365101235",
        "2018-01-31t02:18:21.235z,          1517365101235",
        "2018-01-31 02:18:21.235Z,          1517365101235",
        "2018-01-31T03:18:21.235+01:00,     1517365101235",
        "2018-01-30T22:48:21.235-03:30,     1517365101235",
        "2018-01-31T02:18:21.235999999999Z, 1517365101235",
        "2018-01-31T02:18:21.2Z,            1517365101200",
        "2018-01-31T02:18:21Z,              1517365101000",
        "1970-01-01T00:00:00-00:00,         0",
        "1969-12-31T23:59:59.999Z,          -1",
        "2016-12-31T23:59:60Z,              1483228800000",
        "2024-02-29T00:00:00Z,              1709164800000",
        "1517365101235,                     1517365101235",
        "-1,                                -1",
        "-0,                                0",
        "000000000000000000000000001,       1",
        "0001-01-01T00:00:00Z,              -62135596800000",
        "9999-12-31T23:59:59.999Z,          253402300799999",
    })
    void readsBothForms(String text, long ms) {
        assertEquals(ms, EventTime.parse(text));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "now",
                "2018-01-31",
                "2018-01-31T02:18:21",
                "2018-01-31T02:18Z",
                "2018-02-30T00:00:00Z",
                "2023-02-29T00:00:00Z",
                "2018-13-01T00:00:00Z",
                "2018-01-31T24:00:00Z",
                "2018-01-31T02:60:00Z",
                "2018-01-31T02:18:61Z",
                "2018-01-31T02:18:21.Z",
                "2018-01-31T02:18:21+1:00",
                "2018-01-31T02:18:21+24:00",
                "2018-01-31T02:18:21+00:60",
                "2018-01-31T02:18:21,5Z",
                "1.5",
                "1e3",
                "0x10",
                "--1",
                "+1",
                "１２３",
                "12018-01-31T02:18:21Z",
                "Wed, 31 Jan 2018 02:18:21 GMT"
            })
    void refusesWhatIsNoTime(String text) {
        assertEquals(
                Problem.Kind.BAD_REQUEST,
                assertThrows(Problem.class, () -> EventTime.parse(text)).kind());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "1000000000000000000",
                "99999999999999999999999999",
                "-99999999999999999999999999",
                "253402300800000",
                "-62135596800001",
                "0000-12-31T23:59:59Z",
                "0001-01-01T00:00:00+00:01",
                "9999-12-31T23:59:59-00:01",
                "9999-12-31T23:59:60Z"
            })
    void refusesYearsBeyond0001To9999WithTheRange(String text) {
        Problem problem = assertThrows(Problem.class, () -> EventTime.parse(text));
        assertEquals(Problem.Kind.TIME_REFUSED, problem.kind());
    }

    @Test
    void agreesWithTheJdkOnRandomInstants() {
        long seed = Long.getLong("seed", 20_260_104L);
        Random random = new Random(seed);
        for (int round = 0; round < 20_000; round++) {
            long ms = random.nextLong(EventTime.FIRST_MS, EventTime.LAST_MS + 1);
            String text = Instant.ofEpochMilli(ms).toString();
            assertEquals(ms, EventTime.parse(text), () -> "seed " + seed + ": " + text);
        }
    }
}
