package dev.tidemark.cli;

import dev.tidemark.client.TidemarkClient;
import dev.tidemark.event.Problem;
import dev.tidemark.event.StreamName;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.KeyManagementException;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Collectors;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import org.jspecify.annotations.Nullable;

/** A server's HTTP API, as far as the commands need it. Calls wait for the answer's head. */
final class Api {
    /** The connection couldn't be made: nothing was sent. */
    static final class NotConnected extends IOException {
        private static final long serialVersionUID = 1L;

        NotConnected(String message, IOException cause) {
            super(message, cause);
        }
    }

    static final String NDJSON = "application/x-ndjson";
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
    private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(60);
    private static final String UNRESERVED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";

    private final URI base;
    private final @Nullable String token;
    private final HttpClient client;

    private Api(URI base, @Nullable String token) {
        this.base = base;
        this.token = token;
        // An idle connection is given up before the server does it: a request must never meet a closing one.
        System.setProperty("jdk.httpclient.keepalive.timeout", "5");
        HttpClient.Builder builder =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(CONNECT_TIMEOUT);
        if (base.getScheme().equals("http")) {
            builder.sslContext(trustingNobody());
        }
        this.client = builder.build();
    }

    /** The client reads all certificates of the machine at its start, a fifth of a second, if it isn't given a context. */
    private static SSLContext trustingNobody() {
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, new TrustManager[0], null);
            return context;
        } catch (NoSuchAlgorithmException | KeyManagementException e) {
            throw new IllegalStateException("every JDK has TLS", e);
        }
    }

    /**
     * The API at a base URL.
     *
     * @throws CommandFailure if the URL or the token can't be used
     */
    static Api at(String url, @Nullable String token) {
        URI base;
        try {
            base = new URI(url.replaceAll("/+$", ""));
        } catch (URISyntaxException e) {
            throw CommandFailure.usage("--url: '" + Problem.quote(url) + "' isn't a URL such as http://127.0.0.1:8440");
        }
        boolean http = "http".equals(base.getScheme()) || "https".equals(base.getScheme());
        if (!http || base.getHost() == null || base.getRawQuery() != null || base.getRawFragment() != null) {
            throw CommandFailure.usage("--url: '" + Problem.quote(url) + "' isn't a URL such as http://127.0.0.1:8440");
        }
        if (token != null && !token.matches("[\\x21-\\x7e]+")) {
            throw CommandFailure.usage("--token: has characters that no token has");
        }
        return new Api(base, token);
    }

    /** Path of a stream, and of what lies below it. The name is checked, and encoded so that it is one segment. */
    static String streamPath(String stream, String below) {
        try {
            return "/v1/streams/" + encode(new StreamName(stream).value()) + below;
        } catch (Problem e) {
            throw CommandFailure.usage(e.detail());
        }
    }

    /** Percent-encoding of all that isn't unreserved in RFC 3986. */
    static String encode(String text) {
        StringBuilder encoded = new StringBuilder();
        for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
            if (UNRESERVED.indexOf(b) >= 0) {
                encoded.append((char) b);
            } else {
                encoded.append(String.format("%%%02X", b & 0xff));
            }
        }
        return encoded.toString();
    }

    /** A path with a query of these parameters, in the map's order. */
    static String withQuery(String path, Map<String, String> parameters) {
        return parameters.isEmpty()
                ? path
                : parameters.entrySet().stream()
                        .map(entry -> entry.getKey() + "=" + encode(entry.getValue()))
                        .collect(Collectors.joining("&", path + "?", ""));
    }

    private HttpRequest.Builder request(String pathAndQuery) {
        HttpRequest.Builder builder =
                HttpRequest.newBuilder(URI.create(base + pathAndQuery)).timeout(ANSWER_TIMEOUT);
        return token == null ? builder : builder.header("Authorization", "Bearer " + token);
    }

    /** A request whose answer is streamed, already checked to be a success. */
    InputStream stream(String pathAndQuery) {
        HttpResponse<InputStream> response =
                reach(request(pathAndQuery).header("Accept", NDJSON).GET());
        if (response.statusCode() != 200) {
            throw Refusal.of(response).failure();
        }
        return response.body();
    }

    /** As {@link #stream}, of a POST without body. */
    InputStream post(String pathAndQuery) {
        HttpResponse<InputStream> response =
                reach(request(pathAndQuery).header("Accept", NDJSON).POST(HttpRequest.BodyPublishers.noBody()));
        if (response.statusCode() != 200) {
            throw Refusal.of(response).failure();
        }
        return response.body();
    }

    /** A request whose answer is small; its body, already checked to be a success. */
    HttpResponse<byte[]> call(String method, String pathAndQuery, byte[] json) {
        HttpRequest.Builder builder = request(pathAndQuery)
                .method(
                        method,
                        json.length == 0
                                ? HttpRequest.BodyPublishers.noBody()
                                : HttpRequest.BodyPublishers.ofByteArray(json));
        if (json.length > 0) {
            builder.header("Content-Type", "application/json");
        }
        HttpResponse<byte[]> response = wholeOf(builder);
        if (response.statusCode() / 100 != 2) {
            throw Refusal.of(response.statusCode(), response.body()).failure();
        }
        return response;
    }

    /**
     * Posts events. Whatever the server answers is returned.
     *
     * @param within how long the answer is waited for
     * @throws NotConnected if nothing was sent
     * @throws IOException if it isn't known what the server did
     */
    HttpResponse<byte[]> append(
            String stream, String contentType, String producerId, long seq, byte[] body, Duration within)
            throws IOException {
        HttpRequest.Builder builder = request(streamPath(stream, "/events"))
                .timeout(within)
                .header("Content-Type", contentType)
                .header("Producer-Id", producerId)
                .header("Producer-Epoch", "0")
                .header("Producer-Seq", Long.toString(seq))
                .POST(HttpRequest.BodyPublishers.ofByteArray(body));
        return send(builder, HttpResponse.BodyHandlers.ofByteArray());
    }

    /** The client for programs, in the same connections. */
    TidemarkClient client() {
        TidemarkClient.Builder builder = TidemarkClient.builder(base.toString()).httpClient(client);
        return (token == null ? builder : builder.token(token)).build();
    }

    private HttpResponse<byte[]> wholeOf(HttpRequest.Builder builder) {
        try {
            return send(builder, HttpResponse.BodyHandlers.ofByteArray());
        } catch (IOException e) {
            throw notReachable(e);
        }
    }

    private HttpResponse<InputStream> reach(HttpRequest.Builder builder) {
        try {
            return send(builder, HttpResponse.BodyHandlers.ofInputStream());
        } catch (IOException e) {
            throw notReachable(e);
        }
    }

    private <T> HttpResponse<T> send(HttpRequest.Builder builder, HttpResponse.BodyHandler<T> handler)
            throws IOException {
        try {
            return client.send(builder.build(), handler);
        } catch (ConnectException | HttpConnectTimeoutException e) {
            throw new NotConnected(
                    "can't reach " + base + (e instanceof ConnectException ? "" : " within 5s")
                            + "; is the server running there?",
                    e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    /** What a failed request tells the user. */
    CommandFailure notReachable(IOException e) {
        return CommandFailure.notReachable(e instanceof NotConnected ? String.valueOf(e.getMessage()) : lost(e));
    }

    /** A connection that broke, in words. */
    String lost(Throwable e) {
        String message = e.getMessage();
        return "the connection to " + base + " was lost" + (message == null ? "" : " (" + message + ")");
    }

    /** Where the server is. */
    @Override
    public String toString() {
        return base.toString();
    }
}
