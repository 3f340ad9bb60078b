package dev.tidemark.cli;

import dev.tidemark.client.Event;
import dev.tidemark.client.Follow;
import dev.tidemark.client.Gap;
import dev.tidemark.client.Subscriber;
import dev.tidemark.client.Subscription;
import dev.tidemark.client.TidemarkException;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * Follows a stream across restarts of the server. A server that isn't there in the first place is a failure: it may be the wrong one.
 * The terminal belongs to the subscription's thread while it runs.
 */
final class FollowRun implements Subscriber {
    private static final String TIDEMARKS = "urn:tidemark:problem:";

    private final Api api;
    private final Terminal terminal;
    private final EventPrinter printer;
    private boolean everConnected;
    private boolean lossNoted;

    FollowRun(Api api, Terminal terminal, EventPrinter printer) {
        this.api = api;
        this.terminal = terminal;
        this.printer = printer;
    }

    /**
     * Prints what {@code from} names and then what comes. Returns only by {@link Terminal.Closed} or a failure.
     *
     * @throws CommandFailure if the server doesn't want us, or wasn't there in the first place
     */
    int run(String stream, Follow from) {
        try (Subscription subscription = api.client().subscribe(stream, from, this)) {
            subscription.done().get();
            return ExitCode.DONE;
        } catch (ExecutionException e) {
            throw failure(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw CommandFailure.refused("interrupted");
        }
    }

    private static RuntimeException failure(@Nullable Throwable why) {
        if (why instanceof TidemarkException end) {
            if (end.getCause() instanceof CommandFailure || end.getCause() instanceof Terminal.Closed) {
                return (RuntimeException) end.getCause();
            }
            return CommandFailure.refused(end.status() > 0 ? said(end) : end.detail());
        }
        return new IllegalStateException("a subscription ended without saying why", why);
    }

    // ---- what the subscription says, on its thread

    @Override
    public void connected() {
        everConnected = true;
        lossNoted = false;
    }

    @Override
    public void event(Event event) {
        printer.print(event);
        terminal.flush();
    }

    @Override
    public void gap(Gap gap) {
        terminal.note(EventPrinter.text(gap));
    }

    @Override
    public void disconnected(TidemarkException why, Duration retryIn) {
        if (!everConnected && !why.type().startsWith(TIDEMARKS)) {
            throw notThere(why);
        }
        if (!lossNoted) {
            lossNoted = true;
            terminal.note((why.status() > 0 ? said(why) : why.detail()) + "; trying again");
        }
    }

    @Override
    public void ended(@Nullable TidemarkException why) {
        // The command says it.
    }

    private CommandFailure notThere(TidemarkException why) {
        if (why.status() > 0) {
            return CommandFailure.refused(said(why));
        }
        return CommandFailure.notReachable(
                why.type().equals(TidemarkException.NOT_CONNECTED)
                        ? "can't reach " + api + "; is the server running there?"
                        : why.detail());
    }

    /** What a server's refusal is in one line. */
    private static String said(TidemarkException why) {
        String title = why.field("title");
        if (title == null) {
            return "the server refused the subscription with HTTP status " + why.status();
        }
        String detail = why.field("detail");
        String earliest = why.field("earliest");
        return "the server ended the subscription: " + why.status() + " " + title.toLowerCase(Locale.ROOT)
                + (detail == null ? "" : ": " + detail)
                + (earliest == null ? "" : "; the earliest is " + earliest);
    }
}
