package dev.tidemark.server;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The README's scripts in Chromium, as they stand there, on a page of another origin: over a stop, a kill and a front server that answers
 * 502 they show each event once.
 */
@Tag("clients")
@Timeout(180)
class BrowserIT {
    private static final Chromium CHROMIUM = new Chromium();

    @RegisterExtension
    static final RunningServer SERVER = new RunningServer(Map.of("TIDEMARK_HTTP_ALLOWED_ORIGINS", CHROMIUM.origin()));

    private int appended;

    private void append(int count) {
        List<String> lines = IntStream.range(appended, appended + count)
                .mapToObj(n -> "{\"n\":" + n + "}")
                .toList();
        appended += count;
        assertEquals(201, SERVER.api().append("greetings", lines).status());
    }

    private void assertShown() throws Exception {
        CHROMIUM.awaitNumbers(IntStream.range(0, appended).boxed().toList());
    }

    @AfterEach
    void quit() throws Exception {
        CHROMIUM.quit();
    }

    @AfterAll
    static void close() throws Exception {
        CHROMIUM.close();
    }

    @Test
    void theWebSocketScriptShowsEachEventOnceWhateverBreaksIt() throws Exception {
        goesOn("new WebSocket(");
    }

    @Test
    void theEventSourceScriptShowsEachEventOnceAlsoWhenTheBrowserGivesUp() throws Exception {
        goesOn("new EventSource(");
    }

    private void goesOn(String word) throws Exception {
        append(5);
        try (FrontProxy proxy = new FrontProxy(SERVER::url)) {
            CHROMIUM.open(Readme.code("html", word, proxy.authority()));
            assertShown();
            append(3);
            assertShown();
            SERVER.killAndRestart();
            append(2);
            assertShown();
            proxy.badGateway(true);
            SERVER.stopAndRestart();
            append(3);
            await().atMost(Duration.ofSeconds(30)).until(() -> proxy.refused() >= 2);
            proxy.badGateway(false);
            assertShown();
            append(1);
            assertShown();
            assertEquals(List.of(), CHROMIUM.logged("error"));
            assertEquals(List.of(), CHROMIUM.logged("warn"));
            assertEquals(204, SERVER.api().delete("greetings").status());
            await().atMost(Duration.ofSeconds(30))
                    .until(() -> !CHROMIUM.logged("error").isEmpty());
            assertEquals("subscription ended", CHROMIUM.logged("error").get(0).getString(0));
        }
    }
}
