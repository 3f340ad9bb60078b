package dev.tidemark.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.cli.FakeServer.Answer;
import dev.tidemark.cli.FakeServer.Request;
import dev.tidemark.client.wire.LineReader;
import dev.tidemark.event.Clock;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code append} against a server that keeps what it gets, refuses, drops answers or goes away. */
class AppendIT {
    private static final Answer BUSY =
            Answer.problem(503, "\"title\":\"Unavailable\",\"retryable\":true,\"stored\":\"no\",\"detail\":\"away\"");

    private final FakeServer server = new FakeServer();
    private final List<String> stored = new CopyOnWriteArrayList<>();
    /** By producer and number. */
    private final java.util.Map<String, Answer> answered = new java.util.concurrent.ConcurrentHashMap<>();

    private final Run run = new Run();

    @TempDir
    Path dir;

    @AfterEach
    void stop() {
        server.close();
    }

    private Answer keep(Request request) {
        int first = stored.size() + 1;
        stored.addAll(request.lines());
        return acknowledged(first, stored.size());
    }

    private static Answer acknowledged(int first, int last) {
        return Answer.json(
                201,
                "{\"stream\":\"s\",\"count\":" + (last - first + 1) + ",\"first\":\"E" + first + "\",\"last\":\"E"
                        + last + "\",\"cursor\":\"c\",\"duplicate\":false,\"ack\":\"live\"}");
    }

    private static List<String> numbered(int count) {
        return IntStream.rangeClosed(1, count)
                .mapToObj(i -> "{\"i\":" + i + "}")
                .toList();
    }

    private static String text(List<String> lines) {
        return lines.stream().map(line -> line + "\n").collect(Collectors.joining());
    }

    private String file(String content) throws IOException {
        return Files.writeString(dir.resolve("in.ndjson"), content).toString();
    }

    @Test
    void aFileGoesInAsBatchesOfAtMostAThousandLinesAndTheSummaryNamesCountFirstAndLast() throws IOException {
        server.answer(this::keep);
        List<String> lines = numbered(2_500);
        assertEquals(0, run.at(server, "append", "s", file(text(lines))));
        assertEquals(lines, stored);
        assertEquals(
                List.of(1000, 1000, 500),
                server.requests().stream().map(r -> r.lines().size()).toList());
        assertEquals("s: 2500 events, first E1, last E2500\n", run.out());
        assertEquals("", run.err());
        assertEquals("application/x-ndjson", server.requests().get(0).contentType());
    }

    @Test
    @Tag("R20")
    void blankLinesAreSkippedAndLineEndsOfAllKindsAreLineEnds() {
        server.answer(this::keep);
        assertEquals(0, run.input("1\r\n\n  \t\r\n2\n\r\n3").at(server, "append", "s"));
        assertEquals(List.of("1", "2", "3"), stored);
    }

    @Test
    @Tag("R20")
    void anEmptyInputIsZeroEventsWithoutARequest() {
        assertEquals(0, run.input("\n \n").at(server, "append", "s", "-"));
        assertEquals("s: 0 events\n", run.out());
        assertTrue(server.requests().isEmpty());
    }

    @Test
    void linesThatTrickleInAreSentWithoutWaitingForMore() throws IOException {
        server.answer(this::keep);
        PipedOutputStream writer = new PipedOutputStream();
        PipedInputStream reader = new PipedInputStream(writer);
        Thread command = new Thread(() -> assertEquals(0, run.input(reader).at(server, "append", "s")));
        command.start();
        writer.write("1\n2".getBytes(StandardCharsets.UTF_8));
        writer.flush();
        Awaitility.await().until(() -> stored.equals(List.of("1")));
        writer.write("2\n".getBytes(StandardCharsets.UTF_8));
        writer.flush();
        Awaitility.await().until(() -> stored.equals(List.of("1", "22")));
        writer.close();
        Awaitility.await().until(() -> !command.isAlive());
        assertTrue(run.out().startsWith("s: 2 events"), run.out());
    }

    @Test
    void theServersOwnLimitsAreLearntAndKept() throws IOException {
        server.answer(request -> request.lines().size() > 300
                ? Answer.problem(
                        413,
                        "\"title\":\"Too large\",\"detail\":\"line 301 is one event too many\",\"line\":301,"
                                + "\"limit\":\"limits.batch_events\",\"max\":300")
                : keep(request));
        List<String> lines = numbered(2_000);
        assertEquals(0, run.at(server, "append", "s", file(text(lines))), run::err);
        assertEquals(lines, stored);
        long refused =
                server.requests().stream().filter(r -> r.lines().size() > 300).count();
        assertEquals(1, refused);
    }

    @Test
    void aSmallerBodyLimitIsLearntToo() throws IOException {
        server.answer(request -> request.body().length() > 2_000
                ? Answer.problem(413, "\"title\":\"Too large\",\"limit\":\"limits.body_bytes\",\"max\":2000")
                : keep(request));
        List<String> lines = numbered(1_500);
        assertEquals(0, run.at(server, "append", "s", file(text(lines))), run::err);
        assertEquals(lines, stored);
    }

    @Test
    void oneLineAboveALimitStopsTheRun() {
        server.answer(
                request -> Answer.problem(
                        413,
                        "\"title\":\"Too large\",\"detail\":\"the event on line 1 has 12 bytes\",\"limit\":\"limits.body_bytes\",\"max\":10"));
        assertEquals(1, run.input("\n\n\"123456789\"\n").at(server, "append", "s"));
        assertEquals("tidemark: 413 too large: the event on line 3 has 12 bytes. Nothing was stored\n", run.err());
        assertEquals(1, server.requests().size());
    }

    @Test
    @Tag("R19")
    void aRefusedLineIsNamedByItsNumberInTheFileAndWhatWasStoredBeforeIsTold() throws IOException {
        server.answer(request -> request.body().contains("bad")
                ? Answer.problem(
                        400,
                        "\"title\":\"Body can't be read\",\"detail\":\"line 4, column 2: not JSON\",\"line\":4,\"column\":2")
                : keep(request));
        List<String> lines = new ArrayList<>(numbered(1_010));
        lines.add(1_002, "");
        lines.set(1_004, "bad");
        assertEquals(1, run.at(server, "append", "s", file(text(lines))));
        assertEquals(
                "tidemark: 400 body can't be read: line 1005, column 2: not JSON. "
                        + "Stored: 1000 events, up to line 1000, last id E1000; nothing after that\n",
                run.err());
        assertEquals("", run.out());
        assertEquals(1_000, stored.size());
    }

    @Test
    @Tag("R28")
    void whatCertainlyWasNotStoredIsSentAgain() throws IOException {
        AtomicInteger busy = new AtomicInteger(3);
        server.answer(request -> busy.getAndDecrement() > 0 ? BUSY : keep(request));
        List<String> lines = numbered(10);
        assertEquals(0, run.at(server, "append", "s", file(text(lines))), run::err);
        assertEquals(lines, stored);
        assertEquals(4, server.requests().size());
    }

    private AppendRun bounded(long retryForMs) {
        Api api = Api.at(server.url(), null);
        Terminal terminal = new Terminal(new ByteArrayInputStream(new byte[0]), System.out, System.err, false, false);
        AppendRun.Patience patience = new AppendRun.Patience(200, retryForMs);
        return new AppendRun(new AppendRun.Setup(api, terminal, Clock.system(), "s", Api.NDJSON, patience));
    }

    private static CommandFailure failure(AppendRun run, String lines) {
        return org.junit.jupiter.api.Assertions.assertThrows(CommandFailure.class, () -> send(run, lines));
    }

    private static void send(AppendRun run, String lines) throws IOException {
        run.send(new LineReader(new ByteArrayInputStream(lines.getBytes(StandardCharsets.UTF_8)), 100), 0);
    }

    /** Keeps each number of a producer once, as the server does. */
    private Answer keepOnce(Request request) {
        Answer first = answered.get(request.producer());
        if (first == null) {
            first = keep(request);
            answered.put(request.producer(), first);
        }
        return first;
    }

    @Test
    void tryingAgainHasAnEnd() throws IOException {
        server.answer(request -> stored.size() < 2 ? keep(request) : BUSY);
        AppendRun bounded = bounded(300);
        send(bounded, "1\n2\n");
        CommandFailure failure = failure(bounded, "3\n");
        assertTrue(
                failure.message()
                        .contains(
                                "503 unavailable: away. Stored: 2 events, up to line 2, last id E2; nothing after that"),
                failure.message());
        assertEquals(1, failure.exitCode());
    }

    @Test
    @Tag("R28")
    void batchesAreNumberedAndARefusedOneLeavesItsNumberToTheNext() throws IOException {
        server.answer(request -> request.lines().size() > 600
                ? Answer.problem(413, "\"title\":\"Too large\",\"limit\":\"limits.batch_events\",\"max\":600")
                : keep(request));
        assertEquals(0, run.at(server, "append", "s", file(text(numbered(1_500)))), run::err);
        List<String> producers =
                server.requests().stream().map(Request::producer).toList();
        assertEquals(1, producers.stream().map(p -> p.split(" ")[0]).distinct().count());
        assertEquals(
                List.of("0 0", "0 0", "0 1", "0 2"),
                producers.stream().map(p -> p.substring(p.indexOf(' ') + 1)).toList());
        assertEquals(0, new Run().input("1\n").at(server, "append", "s"));
        assertFalse(
                server.requests().get(4).producer().startsWith(producers.get(0).split(" ")[0]));
    }

    @Test
    @Tag("R28")
    void anUnknownOutcomeAndALostAnswerAreAskedForUnderTheSameNumber() throws IOException {
        AtomicInteger tries = new AtomicInteger();
        server.answer(request -> {
            int number = tries.incrementAndGet();
            if (number % 4 == 1) {
                return Answer.problem(503, "\"title\":\"Unavailable\",\"retryable\":true,\"stored\":\"unknown\"");
            }
            Answer answer = keepOnce(request);
            return number % 4 == 2 ? Answer.none() : answer;
        });
        List<String> lines = numbered(2_500);
        assertEquals(0, run.at(server, "append", "s", file(text(lines))), run::err);
        assertEquals(lines, stored);
        assertEquals("s: 2500 events, first E1, last E2500\n", run.out());
        assertTrue(server.requests().size() > 4);
    }

    @Test
    @Tag("R28")
    void anAnswerThatNeverComesIsAskedForAgain() throws IOException {
        AtomicInteger tries = new AtomicInteger();
        server.answer(request -> {
            Answer answer = keepOnce(request);
            return tries.incrementAndGet() % 2 == 1 ? Answer.silence() : answer;
        });
        send(bounded(30_000), "1\n2\n");
        assertEquals(List.of("1", "2"), stored);
        assertEquals(2, tries.get());
    }

    @Test
    @Tag("R28")
    void whatStaysUnknownIsNamed() throws IOException {
        server.answer(request -> stored.size() < 2 ? keep(request) : Answer.none());
        AppendRun bounded = bounded(300);
        send(bounded, "1\n2\n");
        CommandFailure failure = failure(bounded, "3\n4\n");
        assertEquals(3, failure.exitCode());
        assertTrue(failure.message().contains("the connection to " + server.url() + " was lost"), failure.message());
        assertTrue(
                failure.message()
                        .endsWith("Stored: 2 events, up to line 2, last id E2. "
                                + "Unknown: lines 1 to 2, all or none; nothing after that"),
                failure.message());
    }

    @Test
    void aServerErrorThatSaysNothingAboutStorageIsUnknown() throws IOException {
        server.answer(request -> new Answer(502, "text/html", "<h1>Bad gateway</h1>", java.util.Map.of(), false));
        CommandFailure failure = failure(bounded(100), "1\n");
        assertTrue(
                failure.message()
                        .endsWith("the server answered with HTTP status 502. "
                                + "Unknown: line 1, all or none; nothing after that"),
                failure.message());
        server.answer(request -> Answer.problem(500, "\"title\":\"Internal error\",\"retryable\":false"));
        assertEquals(1, run.input("1\n").at(server, "append", "s"));
        assertEquals("tidemark: 500 internal error. Unknown: line 1, all or none; nothing after that\n", run.err());
    }

    @Test
    @Tag("R28")
    void aRefusalThatSaysThatNothingIsStoredDoesNotSettleAnEarlierTry() throws IOException {
        AtomicInteger tries = new AtomicInteger();
        server.answer(request -> tries.incrementAndGet() == 1 ? Answer.none() : BUSY);
        CommandFailure failure = failure(bounded(300), "1\n");
        assertTrue(failure.message().endsWith("Unknown: line 1, all or none; nothing after that"), failure.message());
    }

    @Test
    void aServerThatIsNotThereIsSaidInOneLine() {
        server.stop();
        assertEquals(3, run.input("1\n").at(server, "append", "s"));
        assertEquals("tidemark: can't reach " + server.url() + "; is the server running there?\n", run.err());
    }

    @Test
    void aServerThatGoesAwayBetweenTwoBatchesIsWaitedFor() throws IOException {
        server.answer(this::keep);
        PipedOutputStream writer = new PipedOutputStream();
        PipedInputStream reader = new PipedInputStream(writer);
        Thread command = new Thread(() -> assertEquals(0, run.input(reader).at(server, "append", "s")));
        command.start();
        writer.write("1\n".getBytes(StandardCharsets.UTF_8));
        writer.flush();
        Awaitility.await().until(() -> stored.size() == 1);
        server.stop();
        writer.write("2\n".getBytes(StandardCharsets.UTF_8));
        writer.close();
        Awaitility.await().during(java.time.Duration.ofMillis(300)).until(command::isAlive);
        server.startAgain();
        Awaitility.await().until(() -> !command.isAlive());
        assertEquals(List.of("1", "2"), stored);
        assertEquals("s: 2 events, first E1, last E2\n", run.out(), run::err);
    }

    @Test
    void envelopesAndWholeEventsGoWithTheirTypes() {
        server.answer(this::keep);
        assertEquals(0, new Run().input("{\"data\":1}\n").at(server, "append", "s", "--envelopes"));
        assertEquals(0, new Run().input("a\nb\n").at(server, "append", "s", "-", "--whole", "--type", "text/plain"));
        assertEquals(0, new Run().input("{\n}").at(server, "append", "s", "--whole"));
        assertEquals(
                List.of("application/vnd.tidemark.events+ndjson", "text/plain", "application/json"),
                server.requests().stream().map(Request::contentType).toList());
        assertEquals("a\nb\n", server.requests().get(1).body());
        assertEquals("{\n}", server.requests().get(2).body());
    }

    @Test
    @Tag("R42")
    void namesAreOnePathSegmentWhateverTheyHold() {
        server.answer(this::keep);
        for (String name : List.of("a/b", "größe", "a b+c", "%2e%2e%2f", "../../x", "@x", "日本")) {
            assertEquals(0, new Run().input("1\n").at(server, "append", name));
        }
        assertEquals(
                List.of(
                        "/v1/streams/a%2Fb/events",
                        "/v1/streams/gr%C3%B6%C3%9Fe/events",
                        "/v1/streams/a%20b%2Bc/events",
                        "/v1/streams/%252e%252e%252f/events",
                        "/v1/streams/..%2F..%2Fx/events",
                        "/v1/streams/%40x/events",
                        "/v1/streams/%E6%97%A5%E6%9C%AC/events"),
                server.requests().stream().map(Request::uri).toList());
    }

    @Test
    void progressIsShownOnATerminalOnly() throws IOException {
        server.answer(request -> {
            pause();
            return keep(request);
        });
        String file = file(text(numbered(3_000)));
        Run silent = new Run();
        assertEquals(0, silent.at(server, "append", "s", file));
        assertEquals("", silent.err());
        Run shown = new Run().onTerminal();
        assertEquals(0, shown.at(server, "append", "s", file));
        assertTrue(shown.err().contains("events, "), shown.err());
        assertTrue(shown.err().endsWith("\r\u001b[K"), shown.err());
        assertFalse(shown.err().contains("\n"), shown.err());
    }

    private static void pause() {
        try {
            Thread.sleep(250);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
