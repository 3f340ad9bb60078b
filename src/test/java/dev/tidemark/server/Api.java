package dev.tidemark.server;

import io.vertx.core.json.JsonObject;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The HTTP API as a client sees it, with nothing of the server in it. */
public final class Api {
    private final HttpClient client = HttpClient.newHttpClient();
    private final String url;

    public Api(String url) {
        this.url = url;
    }

    public String url() {
        return url;
    }

    /** Path of a stream, its name encoded. */
    public static String stream(String name) {
        return "/v1/streams/" + URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
    }

    /** An answer: status, headers and the body's bytes. */
    public record Answer(int status, HttpResponse<byte[]> response) {
        public String text() {
            return new String(response.body(), StandardCharsets.UTF_8);
        }

        public byte[] bytes() {
            return response.body();
        }

        public JsonObject json() {
            return new JsonObject(text());
        }
    }

    /** @throws UncheckedIOException if there is no answer */
    public Answer send(HttpRequest.Builder request) {
        try {
            HttpResponse<byte[]> response = client.send(
                    request.timeout(Duration.ofSeconds(60)).build(), HttpResponse.BodyHandlers.ofByteArray());
            return new Answer(response.statusCode(), response);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** Sends without waiting. */
    public CompletableFuture<Answer> later(HttpRequest.Builder request) {
        return client.sendAsync(
                        request.timeout(Duration.ofSeconds(60)).build(), HttpResponse.BodyHandlers.ofByteArray())
                .thenApply(response -> new Answer(response.statusCode(), response));
    }

    public HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create(url + path));
    }

    /** Sends a request line that no client would, with the headers that must be there; gives the whole answer as text. */
    public String raw(String requestLine) {
        return raw(requestLine, "Connection: close");
    }

    /** Asks for a WebSocket with one more header; gives the head of the answer. */
    public String rawUpgrade(String path, String header) {
        String headers = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" + header;
        return raw("GET " + path + " HTTP/1.1", headers);
    }

    /** The answer up to its end, or to the end of its head if that switches protocols. */
    private String raw(String requestLine, String headers) {
        URI address = URI.create(url);
        try (Socket socket = new Socket(address.getHost(), address.getPort())) {
            socket.setSoTimeout(30_000);
            String request = requestLine + "\r\nHost: " + address.getAuthority() + "\r\n" + headers + "\r\n\r\n";
            socket.getOutputStream().write(request.getBytes(StandardCharsets.UTF_8));
            ByteArrayOutputStream answer = new ByteArrayOutputStream();
            InputStream in = socket.getInputStream();
            for (int b = in.read(); b >= 0; b = in.read()) {
                answer.write(b);
                String text = answer.toString(StandardCharsets.UTF_8);
                if (b == '\n' && text.startsWith("HTTP/1.1 101 ") && text.endsWith("\r\n\r\n")) {
                    break;
                }
            }
            return answer.toString(StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public Answer get(String path) {
        return send(request(path));
    }

    public Answer put(String stream, String settings) {
        return send(request(stream(stream))
                .header("Content-Type", "application/json")
                .PUT(HttpRequest.BodyPublishers.ofString(settings)));
    }

    public Answer delete(String stream) {
        return send(request(stream(stream)).DELETE());
    }

    public Answer append(String stream, String contentType, byte[] body) {
        return send(request(stream(stream) + "/events")
                .header("Content-Type", contentType)
                .POST(HttpRequest.BodyPublishers.ofByteArray(body)));
    }

    /** Appends lines as one NDJSON batch. */
    public Answer append(String stream, List<String> lines) {
        byte[] body = (String.join("\n", lines) + "\n").getBytes(StandardCharsets.UTF_8);
        return append(stream, "application/x-ndjson", body);
    }

    public Answer fold(String stream) {
        return send(request(stream(stream) + "/fold").POST(HttpRequest.BodyPublishers.noBody()));
    }

    public JsonObject seam(String stream) {
        return get(stream(stream) + "/seam").json();
    }

    /** W as text; empty before the first fold. Ids sort as texts. */
    public String watermark(String stream) {
        String watermark = seam(stream).getString("watermark");
        return watermark == null ? "" : watermark;
    }

    /** Asks for NDJSON. */
    public Answer ndjson(String path) {
        return send(request(path).header("Accept", "application/x-ndjson"));
    }

    /** Lines of an NDJSON answer: events, then control lines. */
    public List<JsonObject> lines(String path) {
        Answer answer = ndjson(path);
        if (answer.status() != 200) {
            throw new IllegalStateException(answer.status() + " " + answer.text());
        }
        List<JsonObject> lines = new ArrayList<>();
        for (String line : answer.text().split("\n", -1)) {
            if (!line.isEmpty()) {
                lines.add(new JsonObject(line));
            }
        }
        return lines;
    }

    /** All events of a read or tail that must be complete, without its control lines. */
    public List<JsonObject> events(String path) {
        List<JsonObject> lines = lines(path);
        JsonObject end = lines.remove(lines.size() - 1);
        if (!"end".equals(end.getString("type")) || !end.getBoolean("complete")) {
            throw new IllegalStateException("not complete: " + end);
        }
        for (JsonObject line : lines) {
            if (line.containsKey("type")) {
                throw new IllegalStateException("unexpected: " + line);
            }
        }
        return lines;
    }

    /** The payloads of all events of a complete NDJSON answer, exactly as they stand in it. */
    public List<String> payloads(String path) {
        Answer answer = send(request(path).header("Accept", "application/x-ndjson"));
        List<String> lines = new ArrayList<>(List.of(answer.text().split("\n")));
        String end = lines.remove(lines.size() - 1);
        if (answer.status() != 200 || !end.startsWith("{\"type\":\"end\"") || !end.endsWith("\"complete\":true}")) {
            throw new IllegalStateException(answer.status() + ", not complete: " + end);
        }
        return lines.stream().map(Api::payload).toList();
    }

    /** The payload in an event's JSON, exactly as it stands there. */
    public static String payload(String event) {
        int data = event.indexOf(",\"data\":");
        if (data < 0) {
            throw new IllegalStateException("no data in " + event);
        }
        return event.substring(data + 8, event.length() - 1);
    }

    /** Ids of events, in their order. */
    public static List<String> ids(List<JsonObject> events) {
        return events.stream().map(event -> event.getString("id")).toList();
    }

    /** Fails unless every id is above the one before. */
    public static void assertRising(List<String> ids) {
        for (int i = 1; i < ids.size(); i++) {
            if (ids.get(i - 1).compareTo(ids.get(i)) >= 0) {
                throw new AssertionError("at " + i + ": " + ids.get(i) + " after " + ids.get(i - 1));
            }
        }
    }
}
