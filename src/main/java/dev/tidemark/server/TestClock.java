package dev.tidemark.server;

import dev.tidemark.event.Clock;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A wall clock that is wrong on purpose, for tests of the whole server from outside: it stands {@code offset} beside the machine's and runs
 * {@code rate} times as fast, from the moment on that it is told so. Monotonic time is the machine's. A file can set it again and again.
 * {@link #look} is called by one thread, the clock is read by any.
 */
final class TestClock implements Clock {
    private static final Logger LOG = LoggerFactory.getLogger(TestClock.class);

    private final Clock machine;
    private final @Nullable Path file;
    private volatile Course course;
    private String read = "";

    /** Where the clock stood at a moment, and how fast it runs since. */
    private record Course(long fromMs, long fromNs, double rate) {
        long atMs(long nowNs) {
            return fromMs + (long) ((nowNs - fromNs) / 1e6 * rate);
        }
    }

    TestClock(Clock machine, Configuration.TestClock settings) {
        this.machine = machine;
        this.file = settings.file();
        this.course = course(settings.offsetMs(), settings.rate());
        LOG.warn("{}", what());
    }

    /** The machine's own clock, unless a test wants another. */
    static Clock of(Configuration.TestClock settings) {
        return settings.isWanted() ? new TestClock(Clock.system(), settings) : Clock.system();
    }

    /** For health and log: that nothing here has true times. */
    static String what() {
        return "test.clock_… is set: times aren't the machine's; never use it for events that matter";
    }

    private Course course(long offsetMs, double rate) {
        return new Course(machine.wallMs() + offsetMs, machine.monotonicNs(), rate);
    }

    @Override
    public long wallMs() {
        return course.atMs(machine.monotonicNs());
    }

    @Override
    public long monotonicNs() {
        return machine.monotonicNs();
    }

    /** Reads the file, if there is one, and follows it if it has changed. Blocks. */
    void look() {
        Path from = file;
        if (from == null) {
            return;
        }
        String text;
        try {
            text = Files.readString(from).strip();
        } catch (IOException e) {
            return; // It may come yet.
        }
        if (text.equals(read)) {
            return;
        }
        read = text;
        try {
            String[] words = text.split("\\s+", -1);
            if (words.length > 2) {
                throw new IllegalArgumentException("more than two words");
            }
            long offsetMs = ValueForm.OFFSET.reader().apply(words[0]);
            BigDecimal rate =
                    words.length < 2 ? BigDecimal.ONE : ValueForm.RATE.reader().apply(words[1]);
            course = course(offsetMs, rate.doubleValue());
            LOG.warn("the test's clock is now {} beside the machine's and runs {} times as fast", words[0], rate);
        } catch (IllegalArgumentException e) {
            LOG.error(
                    "{} is left alone: {}; allowed is an offset such as -3h and a rate such as 1",
                    from,
                    e.getMessage());
        }
    }
}
