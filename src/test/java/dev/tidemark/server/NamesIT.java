package dev.tidemark.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.json.JsonObject;
import java.net.http.HttpRequest;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Stream names are user input: every legal one is the same stream everywhere, every other is refused everywhere. */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class NamesIT {
    private static final List<String> LEGAL = List.of(
            "../../x",
            "../..",
            "...",
            "%2e%2e%2f",
            "%252e",
            "%2F",
            "%",
            "a+b",
            "a%20b",
            "a b",
            " ",
            "a",
            "A",
            "a/b",
            "a/b/",
            "/",
            "//",
            "/etc/passwd",
            "x/events",
            "events",
            "größe",
            "日本",
            "\ud83c\udf0a",
            "\ufb4f",
            "{tag}",
            "a}:live",
            "#0/1",
            "?q=1&r=2",
            "a:b;c,d",
            "-n",
            "con",
            "a\\b",
            "'\"<>|*",
            "~",
            "n".repeat(200),
            "\u00fc".repeat(100));
    /** As they stand in a path. */
    private static final List<String> ILLEGAL = List.of(
            "",
            ".",
            "..",
            "%2e",
            "%2E%2e",
            "a%00b",
            "%0d%0a",
            "a%0D%0Ab",
            "a%09",
            "%7f",
            "%c2%85",
            "n".repeat(201),
            "n".repeat(300),
            "%C3%BC".repeat(101),
            "u%CC%88",
            "%ff",
            "%c3%28",
            "%ed%a0%80");
    /** Which Java's client refuses to send. */
    private static final List<String> NOT_EVEN_A_PATH = List.of("%", "%2", "%zz", "a%", "a b");
    /** Legal ones of which the command line is tried. */
    private static final Set<String> BY_COMMAND = Set.of("../../x", "\ud83c\udf0a");

    @RegisterExtension
    static final RunningServer SERVER = new RunningServer(Map.of());

    @Test
    @Order(1)
    @Tag("R42")
    void everyLegalNameIsTheSameStreamOnEveryWay() {
        Api api = SERVER.api();
        for (String name : LEGAL) {
            String path = Api.stream(name);
            Api.Answer created = api.put(name, "{\"live_max_events\":50}");
            assertEquals(201, created.status(), name + ": " + created.text());
            assertEquals(name, created.json().getString("stream"));
            Api.Answer appended = api.append(name, List.of("1", "2"));
            assertEquals(201, appended.status(), name);
            assertEquals(name, appended.json().getString("stream"));
            String last = appended.json().getString("last");
            assertEquals(name, api.get(path + "/tail").json().getString("stream"));
            assertEquals(List.of("1", "2"), api.payloads(path + "/tail"), name);
            assertEquals(List.of("1", "2"), api.payloads(path + "/events"), name);
            assertEquals("2", api.get(path + "/events/" + last).text(), name);
            Api.Answer folded = api.fold(name);
            assertEquals(name, folded.json().getString("stream"));
            assertEquals(last, folded.json().getString("watermark"));
            assertEquals(last, api.watermark(name));
            assertEquals(name, api.get(path).json().getString("stream"));
            try (Follower follower = Follower.of(SERVER.url(), name, "tail=1")) {
                assertEquals(name, follower.await("hello").getString("stream"));
                assertEquals(last, follower.awaitEvents(1).get(0).getString("id"));
            }
        }
    }

    @Test
    @Order(2)
    @Tag("R42")
    void theCommandLineHasTheSameNames() {
        for (String name : BY_COMMAND) {
            var unused = Command.against(SERVER.url(), "streams", "show", name).succeeded();
            assertEquals(
                    List.of("1", "2"),
                    Command.against(SERVER.url(), "tail", name, "--output", "data")
                            .succeeded()
                            .lines());
        }
        List<String> listed =
                Command.against(SERVER.url(), "streams", "list").succeeded().lines();
        for (String name : LEGAL) {
            assertTrue(listed.stream().anyMatch(line -> line.startsWith(name + " ")), name + " in " + listed);
        }
        for (String name : List.of("..", ".", "")) {
            assertEquals(2, Command.against(SERVER.url(), "tail", name).exit(), "'" + name + "'");
        }
    }

    @Test
    @Order(3)
    @Tag("R42")
    void theListingHasEachNameOnceHoweverItIsPaged() {
        for (int limit : new int[] {1, 7, 1_000}) {
            List<String> listed = new ArrayList<>();
            String next = "";
            while (next != null) {
                String after =
                        next.isEmpty() ? "" : "&after=" + Api.stream(next).substring("/v1/streams/".length());
                JsonObject page =
                        SERVER.api().get("/v1/streams?limit=" + limit + after).json();
                for (Object stream : page.getJsonArray("streams")) {
                    listed.add(((JsonObject) stream).getString("stream"));
                }
                next = page.getString("next");
            }
            assertEquals(new ArrayList<>(new TreeSet<>(LEGAL)), listed, "limit=" + limit);
        }
    }

    @Test
    @Order(4)
    @Tag("R42")
    void everyIllegalNameIsRefusedEverywhere() {
        for (String name : ILLEGAL) {
            String path = "/v1/streams/" + name;
            List<HttpRequest.Builder> requests = new ArrayList<>();
            if (!name.isEmpty()) {
                requests.add(request(path).PUT(HttpRequest.BodyPublishers.ofString("{}")));
                requests.add(request(path).DELETE());
                requests.add(request(path));
            }
            requests.add(request(path + "/events").POST(HttpRequest.BodyPublishers.ofString("1")));
            requests.add(request(path + "/fold").POST(HttpRequest.BodyPublishers.noBody()));
            requests.add(request(path + "/events"));
            requests.add(request(path + "/events").header("Accept", "text/event-stream"));
            requests.add(request(path + "/events/EVT000xY9Wvvcd"));
            requests.add(request(path + "/tail"));
            requests.add(request(path + "/seam"));
            for (HttpRequest.Builder request : requests) {
                Api.Answer answer = SERVER.api().send(request.header("Content-Type", "application/json"));
                assertEquals(400, answer.status(), name + " " + request.build() + " " + answer.text());
                assertTrue(
                        answer.response()
                                .headers()
                                .firstValue("content-type")
                                .orElse("")
                                .startsWith("application/problem+json"),
                        answer.text());
            }
        }
    }

    @Test
    @Order(4)
    @Tag("R42")
    void whatIsNotEvenAPathIsRefusedToo() {
        for (String name : NOT_EVEN_A_PATH) {
            for (String rest : List.of("", "/tail", "/events", "/seam")) {
                String answer = SERVER.api().raw("GET /v1/streams/" + name + rest + " HTTP/1.1");
                assertTrue(answer.matches("(?s)HTTP/1\\.[01] 400 .*"), name + ": " + answer);
            }
        }
    }

    @Test
    @Order(4)
    @Tag("R42")
    void anIllegalNameCanNotBeSubscribedTo() {
        for (String name : List.of(".", "a\0b", "n".repeat(201))) {
            try (Follower follower = Follower.of(SERVER.url(), name, "after=earliest")) {
                assertEquals(4500, follower.awaitClose());
                assertEquals(400, follower.await("error").getInteger("status"));
            }
        }
        try (Follower follower = Follower.of(SERVER.url(), "nobody", "after=earliest")) {
            assertEquals(4504, follower.awaitClose());
        }
    }

    @Test
    @Order(5)
    @Tag("R42")
    void otherSpellingsInAPathAreNoOtherStreams() {
        Api api = SERVER.api();
        assertEquals(List.of("1", "2"), api.payloads("/v1/streams/%61/tail"));
        assertEquals(List.of("1", "2"), api.payloads("/v1/streams/a+b/tail"));
        assertEquals(List.of("1", "2"), api.payloads("/v1/streams/%e6%97%a5%E6%9C%AC/tail"));
        assertEquals(404, api.get("/v1/streams/a/b/tail").status());
        assertEquals(404, api.get("/v1/streams/a/").status());
        assertEquals(404, api.get("/v1/streams/a/../A/tail").status());
    }

    @Test
    @Order(6)
    @Tag("R42")
    @Tag("F9")
    void eachNameHasOneFolderAndOneLiveLogAndNothingIsOutside() {
        assertEquals(List.of(), SERVER.outside());
        Set<String> folders = new HashSet<>();
        for (String file : SERVER.files()) {
            assertTrue(Set.of("archive", "id", "lock", "reservation").contains(file.split("/", -1)[0]), file);
            if (file.matches("archive/[^/]+")) {
                assertTrue(file.matches("archive/[-a-z0-9_%~]+"), file);
                folders.add(file);
            }
        }
        assertEquals(LEGAL.size(), folders.size());
        try (PlainRedis redis = SERVER.redis()) {
            List<String> keys = redis.texts("KEYS", "*");
            assertTrue(keys.stream().allMatch(key -> key.startsWith("tidemark:")), keys.toString());
            assertEquals(
                    LEGAL.size(),
                    keys.stream().filter(key -> key.endsWith(":live")).count());
            assertEquals(
                    LEGAL.size(),
                    keys.stream().filter(key -> key.endsWith(":archived")).count());
            assertEquals(2 + 2 * LEGAL.size(), keys.size(), keys.toString());
            assertEquals(new TreeSet<>(LEGAL), new TreeSet<>(redis.texts("HKEYS", "tidemark:streams")));
        }
    }

    @Test
    @Order(7)
    @Tag("R42")
    void theyAreAllBackAfterARestart() {
        SERVER.killAndRestart();
        for (String name : LEGAL) {
            assertEquals(List.of("1", "2"), SERVER.api().payloads(Api.stream(name) + "/events"), name);
            assertEquals(204, SERVER.api().delete(name).status(), name);
        }
        assertEquals(
                List.of(),
                SERVER.files().stream()
                        .filter(file -> file.startsWith("archive/"))
                        .toList());
        try (PlainRedis redis = SERVER.redis()) {
            assertEquals(List.of("tidemark:owner"), redis.texts("KEYS", "*"));
        }
    }

    private static HttpRequest.Builder request(String path) {
        return SERVER.api().request(path);
    }
}
