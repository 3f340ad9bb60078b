package dev.tidemark.server;

import io.vertx.core.json.JsonObject;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * A client that reads tails and pages behind them all the time, whatever happens to the server, and watches W. What it saw is compared
 * later with the whole stream: each page must be a stretch of it.
 */
final class PageReader implements AutoCloseable {
    private static final int TAIL = 200;
    private static final int PAGE = 150;
    private static final long PAUSE_MS = 30;

    private final String stream;
    private final String view;
    private final Supplier<Api> server;
    private final List<List<Seen>> pages = Collections.synchronizedList(new ArrayList<>());
    private final List<String> unexpected = Collections.synchronizedList(new ArrayList<>());
    private final List<String> watermarksBack = Collections.synchronizedList(new ArrayList<>());
    private final Thread thread;

    private String watermark = "";
    private volatile boolean stopping;

    /** Begins at once. */
    PageReader(String stream, String view, Supplier<Api> server) {
        this.stream = stream;
        this.view = view;
        this.server = server;
        thread = new Thread(this::read, "page-reader");
        thread.setDaemon(true);
        thread.start();
    }

    private void read() {
        while (!stopping) {
            try {
                List<Seen> tail = page("/tail?n=" + TAIL + "&view=" + view);
                if (!tail.isEmpty()) {
                    page("/events?after=" + tail.get(0).id() + "&limit=" + PAGE + "&view=" + view);
                }
                watch();
                Thread.sleep(PAUSE_MS);
            } catch (UncheckedIOException away) {
                pause();
            } catch (InterruptedException | IllegalStateException e) {
                return;
            } catch (RuntimeException | AssertionError e) {
                unexpected.add(String.valueOf(e.getMessage()));
            }
        }
    }

    private static void pause() {
        try {
            Thread.sleep(PAUSE_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** What is there; an answer that says that it isn't complete is none. */
    private List<Seen> page(String path) {
        Api.Answer answer = server.get().ndjson(Api.stream(stream) + path);
        if (answer.status() == 503) {
            return List.of();
        }
        if (answer.status() != 200) {
            throw new AssertionError(path + ": " + answer.status() + " " + answer.text());
        }
        String text = answer.text();
        if (text.contains("\"complete\":false}")) {
            return List.of();
        }
        List<Seen> page = Seen.ofLines(text);
        pages.add(page);
        return page;
    }

    private void watch() {
        Api.Answer answer = server.get().get(Api.stream(stream) + "/seam");
        if (answer.status() != 200) {
            return;
        }
        JsonObject seam = answer.json();
        String now = seam.getString("watermark") == null ? "" : seam.getString("watermark");
        if (now.compareTo(watermark) < 0) {
            watermarksBack.add(stream + " from " + watermark + " to " + now);
        }
        watermark = now;
    }

    /** Compares what was seen since the last call with the stream as it is now, and forgets it. */
    void settle(Ledger ledger, List<Seen> whole, Map<String, Integer> places) {
        for (List<Seen> page : taken(pages)) {
            ledger.stretch("a page of " + stream, page, whole, places);
        }
        taken(watermarksBack).forEach(ledger::watermarkBack);
        taken(unexpected).forEach(what -> ledger.other("a reader of " + stream + " got " + what));
    }

    private static <T> List<T> taken(List<T> list) {
        synchronized (list) {
            List<T> taken = List.copyOf(list);
            list.clear();
            return taken;
        }
    }

    @Override
    public void close() {
        stopping = true;
        thread.interrupt();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
