package dev.tidemark.read;

import dev.tidemark.archive.ArchiveCheck;
import dev.tidemark.archive.ArchivePage;
import dev.tidemark.event.CheckProgress;
import dev.tidemark.event.Chunk;
import dev.tidemark.event.Event;
import dev.tidemark.event.Finding;
import dev.tidemark.event.Finding.Kind;
import dev.tidemark.event.Gap;
import dev.tidemark.event.Position;
import dev.tidemark.livelog.LiveLogPage;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks a stream of the running server: its archive up to W, then that the live log says the same of every event that both hold. The
 * archive's part runs on workers, a bounded piece at a time; appends, folds and reads go on beside it. One caller at a time.
 */
final class StreamVerification implements Verification {
    private static final Logger LOG = LoggerFactory.getLogger(StreamVerification.class);
    private static final int LIVE_PAGE = 500;
    private static final int ARCHIVE_PAGE = 1_000;
    private static final int ARCHIVE_PAGE_BYTES = 4 << 20;

    private final StreamSource source;
    private final ArchiveCheck check;
    private final Position watermark;

    private @Nullable CheckProgress archive;
    private boolean archiveDone;
    private boolean running;
    private boolean stopped;
    private int stripe;
    private Position liveAfter = Position.ZERO;
    private long compared;

    StreamVerification(StreamSource source, ArchiveCheck check, Position watermark) {
        this.source = source;
        this.check = check;
        this.watermark = watermark;
    }

    /** Opens what is needed. */
    static Future<Verification> start(StreamSource source) {
        return source.open()
                .compose(opened -> source.onWorker(() -> source.archive().check()))
                .map(check -> new StreamVerification(source, check, source.watermark()));
    }

    @Override
    public Future<Step> next() {
        if (!archiveDone) {
            running = true;
            return source.onWorker(check::next)
                    .map(progress -> {
                        archive = progress;
                        archiveDone = progress.end();
                        return step(progress.findings(), false);
                    })
                    .onComplete(ended -> {
                        running = false;
                        if (stopped || ended.failed()) {
                            closeFiles();
                        }
                    });
        }
        if (stripe >= source.stream().stripes()) {
            return Future.succeededFuture(step(List.of(), true));
        }
        // Where order is final on arrival no entry above W is folded.
        Position through = source.finalOnArrival() ? watermark : Position.MAX;
        return source.live(stripe, liveAfter, through, LIVE_PAGE)
                .compose(this::compare)
                .recover(failure -> {
                    stripe = Integer.MAX_VALUE;
                    return Future.succeededFuture(List.of(new Finding(
                            Kind.NOTE,
                            "",
                            Finding.NONE,
                            Position.ZERO,
                            "the live log can't be compared with the archive now: " + failure.getMessage())));
                })
                .map(findings -> step(findings, stripe >= source.stream().stripes()));
    }

    private Step step(List<Finding> findings, boolean end) {
        CheckProgress figures = archive == null
                ? new CheckProgress(List.of(), false, 0, 0, 0, 0, Position.ZERO, Position.ZERO)
                : archive;
        return new Step(findings, end, figures, compared);
    }

    private Future<List<Finding>> compare(LiveLogPage page) {
        liveAfter = page.last();
        if (!page.full()) {
            stripe++;
            liveAfter = Position.ZERO;
        }
        List<Event> folded = page.events().stream()
                .filter(event -> !event.id().isAfter(watermark))
                .sorted(Comparator.comparing(Event::id))
                .toList();
        if (folded.isEmpty()) {
            return Future.succeededFuture(List.of());
        }
        compared += folded.size();
        return source.onWorker(() -> new Comparison(folded).run());
    }

    @Override
    public void stop() {
        stopped = true;
        if (!running) {
            closeFiles();
        }
    }

    private void closeFiles() {
        source.onWorker(() -> {
                    check.close();
                    return check;
                })
                .onFailure(failure -> LOG.warn("the files of a check aren't closed", failure));
    }

    /** Entries of the live log against what the archive has of them. */
    private final class Comparison {
        private final List<Event> live;
        private final List<Finding> findings = new ArrayList<>();
        private final List<Gap> gaps = new ArrayList<>();
        private int next;

        /** @param live in the order of their ids */
        Comparison(List<Event> live) {
            this.live = live;
        }

        List<Finding> run() {
            Position after = live.get(0).id().previous();
            Position last = live.get(live.size() - 1).id();
            boolean more = true;
            while (more) {
                ArchivePage page = source.archive().read(after, last, ARCHIVE_PAGE, ARCHIVE_PAGE_BYTES);
                gaps.addAll(page.gaps());
                Chunk events = page.events();
                for (int i = 0; i < events.count(); i++) {
                    compare(events, i);
                }
                more = page.more() && events.count() > 0;
                after = more ? events.last() : after;
            }
            while (next < live.size()) {
                missing(live.get(next++));
            }
            return findings;
        }

        private void compare(Chunk archived, int i) {
            Position id = archived.position(i);
            while (next < live.size() && live.get(next).id().isBefore(id)) {
                missing(live.get(next++));
            }
            if (next == live.size() || !live.get(next).id().equals(id)) {
                return;
            }
            Event event = live.get(next++);
            byte[] slab = archived.slab();
            int from = archived.payloadStart(i);
            boolean same = event.ordinal() == archived.ordinal(i)
                    && event.type().equals(archived.type(i))
                    && Arrays.equals(
                            event.payload(), 0, event.payload().length, slab, from, from + archived.payloadLength(i));
            if (!same) {
                tell(event, "the live log and the archive hold it with other content or another ordinal");
            }
        }

        private void missing(Event event) {
            boolean announced = gaps.stream()
                    .anyMatch(
                            gap -> event.id().isAfter(gap.from()) && !event.id().isAfter(gap.to()));
            tell(
                    event,
                    announced
                            ? "it can't be read from the archive; the live log still holds it"
                            : "the archive doesn't hold it, though it lies at or below W; the live log still does");
        }

        private void tell(Event event, String what) {
            findings.add(new Finding(Kind.DIFFERENT, "", Finding.NONE, event.id(), what));
        }
    }
}
