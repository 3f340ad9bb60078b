package dev.tidemark.server;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.tidemark.archive.Trees;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Debian's Chromium on a page of another origin than the server's. What the page writes to its console comes back to the test, in
 * order.
 */
final class Chromium implements AutoCloseable {
    /** Sends what is logged to where the page came from. Requests may overtake each other, so each has its number. */
    private static final String REPORT = """
            <!doctype html><meta charset="utf-8">
            <script>
            let reports = 0;
            for (const level of ['log', 'warn', 'error']) {
              console[level] = (...what) => fetch('/seen', { method: 'POST', body: JSON.stringify({ number: reports++, level, what }) });
            }
            addEventListener('error', event => console.error('script', event.message));
            </script>
            """;

    private final HttpServer pages;
    private final Map<Integer, JsonObject> seen = new ConcurrentHashMap<>();
    private volatile String page = "";
    private @Nullable Process process;
    private @Nullable Path profile;

    /** Serves pages; the browser isn't started yet. */
    Chromium() {
        try {
            pages = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
        pages.createContext("/", exchange -> answer(exchange, 200, page));
        pages.createContext("/favicon.ico", exchange -> answer(exchange, 404, ""));
        pages.createContext("/seen", this::seen);
        pages.start();
    }

    /** Where pages come from. */
    String origin() {
        return "http://127.0.0.1:" + pages.getAddress().getPort();
    }

    private void seen(HttpExchange exchange) throws IOException {
        JsonObject report =
                new JsonObject(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
        seen.put(report.getInteger("number"), report);
        answer(exchange, 204, "");
    }

    private static void answer(HttpExchange exchange, int status, String body) throws IOException {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "text/html; charset=utf-8");
        exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    /** Opens a page in a fresh browser, in place of the one before. */
    void open(String html) throws IOException {
        quit();
        seen.clear();
        String chromium = RealClients.program("chromium", "chromium-browser", "google-chrome");
        page = REPORT + html;
        Path fresh = Files.createTempDirectory("tidemark-chromium");
        profile = fresh;
        process = new ProcessBuilder(
                        chromium,
                        "--headless",
                        "--no-sandbox",
                        "--disable-gpu",
                        "--disable-quic",
                        "--disable-dev-shm-usage",
                        "--no-first-run",
                        "--disable-background-networking",
                        "--disable-component-update",
                        "--disable-sync",
                        "--remote-debugging-port=0",
                        "--user-data-dir=" + fresh,
                        origin() + "/")
                .redirectErrorStream(true)
                .redirectOutput(fresh.resolve("log").toFile())
                .start();
    }

    /** What was logged at a level: the arguments of each call. */
    List<JsonArray> logged(String level) {
        List<JsonArray> calls = new ArrayList<>();
        new TreeMap<>(seen).forEach((number, report) -> {
            if (report.getString("level").equals(level)) {
                calls.add(report.getJsonArray("what"));
            }
        });
        return calls;
    }

    /** The numbers in the events that {@code console.log(id, data)} was told, with nothing missing in between. */
    List<Integer> numbers() {
        return logged("log").stream()
                .map(call -> call.getJsonObject(1).getInteger("n"))
                .toList();
    }

    void awaitNumbers(List<Integer> numbers) throws InterruptedException, IOException {
        long untilNs = System.nanoTime() + 60_000_000_000L;
        while (numbers().size() < numbers.size() && System.nanoTime() < untilNs) {
            TimeUnit.MILLISECONDS.sleep(20);
        }
        if (!numbers().equals(numbers)) {
            throw new AssertionError(numbers() + " instead of " + numbers + "; warnings " + logged("warn") + ", errors "
                    + logged("error") + "; " + Files.readString(profile.resolve("log")));
        }
    }

    /** Ends the browser. */
    void quit() throws IOException {
        Process running = process;
        if (running != null) {
            List<ProcessHandle> all = new ArrayList<>(running.descendants().toList());
            all.add(running.toHandle());
            all.forEach(ProcessHandle::destroyForcibly);
            all.forEach(
                    handle -> handle.onExit().orTimeout(10, TimeUnit.SECONDS).join());
            process = null;
        }
        if (profile != null) {
            Trees.delete(profile);
            profile = null;
        }
    }

    @Override
    public void close() throws IOException {
        pages.stop(0);
        quit();
    }
}
