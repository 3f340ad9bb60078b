package dev.tidemark.http;

import dev.tidemark.event.Problem;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;

/** What every request must meet before it is led anywhere: framing, host, origin, expectations. */
final class Admission {
    private static final String PREFLIGHT_METHODS = "GET, HEAD, PUT, POST, DELETE";
    private static final String PREFLIGHT_HEADERS = "Content-Type, Content-Encoding, Accept, Authorization, Event-Time,"
            + " Idempotency-Key, Producer-Id, Producer-Epoch, Producer-Seq, Last-Event-ID";

    private final OriginCheck origins;

    Admission(OriginCheck origins) {
        this.origins = origins;
    }

    /**
     * Whether the request is to be handled; if not, it has been answered.
     *
     * @throws Problem if its host or origin isn't ours
     */
    boolean admits(Exchange exchange) {
        HttpServerRequest request = exchange.request();
        String coding = request.getHeader(HttpHeaders.TRANSFER_ENCODING);
        if (coding != null && !coding.trim().equalsIgnoreCase("chunked")) {
            exchange.refuseAndClose(ProblemJson.of(Refusal.TRANSFER_CODING, "allowed is Transfer-Encoding: chunked"));
            return false;
        }
        checkHostAndOrigin(exchange);
        String expected = request.getHeader(HttpHeaders.EXPECT);
        if (exchange.body().expectsContinue() && !"100-continue".equalsIgnoreCase(expected)) {
            exchange.refuse(ProblemJson.of(Refusal.EXPECTATION_FAILED, "allowed is Expect: 100-continue"));
            return false;
        }
        return !isPreflight(exchange);
    }

    private void checkHostAndOrigin(Exchange exchange) {
        HttpServerRequest request = exchange.request();
        String host = exchange.onlyHeader("Host");
        if (host == null && request.version() != HttpVersion.HTTP_1_0) {
            throw Problem.badRequest("the Host header is missing");
        }
        if (host != null && !host.equals(exchange.peer().checkedHost())) {
            origins.checkHost(host, localAddress(request));
            exchange.peer().checkedHost(host);
        }
        String authority = exchange.target().authority();
        if (authority != null) {
            origins.checkHost(authority, localAddress(request));
        }
        String origin = exchange.onlyHeader("Origin");
        if (origin != null && origins.checkOrigin(origin, host, request.isSSL() ? "https" : "http")) {
            exchange.allowOrigin(origin);
        }
    }

    private static String localAddress(HttpServerRequest request) {
        String address =
                request.localAddress() == null ? null : request.localAddress().hostAddress();
        return address == null ? "" : address;
    }

    /** Answers a browser's question whether a page of an allowed origin may make a request. */
    private static boolean isPreflight(Exchange exchange) {
        boolean preflight = exchange.method().equals(HttpMethod.OPTIONS)
                && exchange.header("origin") != null
                && exchange.header("access-control-request-method") != null;
        if (preflight) {
            var headers = exchange.response().headers();
            headers.set("access-control-allow-methods", PREFLIGHT_METHODS);
            headers.set("access-control-allow-headers", PREFLIGHT_HEADERS);
            headers.set("access-control-max-age", "600");
            exchange.empty(204);
        }
        return preflight;
    }
}
