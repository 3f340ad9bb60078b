package dev.tidemark.http;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.tidemark.event.Problem;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.vertx.core.AsyncResult;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.internal.buffer.BufferInternal;
import java.util.Arrays;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One request and its answer. Routes answer through it, so that HEAD, CORS, problems, bodies that weren't read and clients that left
 * are dealt with in one place. Used on the connection's event loop.
 */
final class Exchange {
    static final CharSequence JSON = HttpHeaders.createOptimized("application/json");

    private static final CharSequence PROBLEM = HttpHeaders.createOptimized(ProblemJson.MEDIA_TYPE);
    private static final CharSequence NO_STORE = HttpHeaders.createOptimized("no-store");
    private static final CharSequence NOSNIFF_NAME = HttpHeaders.createOptimized("x-content-type-options");
    private static final CharSequence NOSNIFF = HttpHeaders.createOptimized("nosniff");
    private static final CharSequence EXPOSED =
            HttpHeaders.createOptimized("Retry-After, Producer-Expected-Seq, Event-Id, Event-At, Event-Time");
    /** Up to here a copy outside the heap costs more than it saves. */
    private static final int HEAP_COPY_BYTES_MAX = 8 << 10;
    /** What waits for one client at most, beyond the piece that went over it. */
    private static final int WAITING_BYTES_MAX = 512 << 10;

    private final HttpServerRequest request;
    private final HttpServerResponse response;
    private final RequestTarget target;
    private final Peer peer;
    private final HttpEdge edge;
    private final Body body;
    private final Thread eventLoop = Thread.currentThread();
    private final Context context = Vertx.currentContext();

    private @Nullable String corsOrigin;
    private @Nullable Runnable abandoned;
    private @Nullable TcpPulse pulse;
    /** Since when the client takes too little of the answer; 0 if it doesn't. */
    private long fullSinceNs;

    Exchange(HttpEdge edge, Peer peer, HttpServerRequest request, RequestTarget target, long nowNs) {
        this.edge = edge;
        this.peer = peer;
        this.request = request;
        this.target = target;
        response = request.response();
        body = new Body(this, edge.bodies(), nowNs);
    }

    HttpServerRequest request() {
        return request;
    }

    HttpServerResponse response() {
        return response;
    }

    RequestTarget target() {
        return target;
    }

    Peer peer() {
        return peer;
    }

    HttpMethod method() {
        return request.method();
    }

    boolean isHead() {
        return request.method().equals(HttpMethod.HEAD);
    }

    @Nullable
    String header(CharSequence name) {
        return request.getHeader(name);
    }

    /** A header that may stand there only once; null if it doesn't. */
    @Nullable
    String onlyHeader(String name) {
        var all = request.headers().getAll(name);
        if (all.size() > 1) {
            throw Problem.badRequest("header " + name + " is given " + all.size() + " times; allowed is once");
        }
        return all.isEmpty() ? null : all.get(0);
    }

    /** The answer carries CORS headers for that origin. */
    void allowOrigin(String origin) {
        corsOrigin = origin;
    }

    /** Whether the answer was given, or nobody is there to get it. */
    boolean answered() {
        return response.ended() || response.closed();
    }

    /** Whether nothing is under way any more. */
    boolean done() {
        return answered() && (!body.isUnderWay() || response.closed());
    }

    /** Runs {@code then} if the client leaves before the answer has ended. */
    void onAbandoned(Runnable then) {
        abandoned = then;
        response.closeHandler(v -> left());
    }

    private void left() {
        Runnable then = abandoned;
        abandoned = null;
        if (then != null && !response.ended()) {
            then.run();
        }
    }

    // ---- answers

    /** Puts the headers that every answer has. */
    void head(int status, CharSequence contentType) {
        response.setStatusCode(status);
        var headers = response.headers();
        headers.set(HttpHeaders.CONTENT_TYPE, contentType);
        headers.set(HttpHeaders.CACHE_CONTROL, NO_STORE);
        headers.set(NOSNIFF_NAME, NOSNIFF);
        if (corsOrigin != null) {
            headers.set("access-control-allow-origin", corsOrigin);
            headers.set("access-control-expose-headers", EXPOSED);
            headers.set(HttpHeaders.VARY, "Origin");
        }
    }

    void json(int status, JsonOut json) {
        answer(status, JSON, json.buffer());
    }

    /**
     * As {@link #json} with a copy: what it was written into can be cleared and used again at once. A large copy lies outside the heap,
     * where the socket takes it from as it is.
     */
    void jsonCopied(int status, JsonOut json) {
        if (json.length() <= HEAP_COPY_BYTES_MAX) {
            byte[] copy = Arrays.copyOf(json.array(), json.length());
            answer(status, JSON, BufferInternal.buffer(Unpooled.wrappedBuffer(copy)));
            return;
        }
        if (answered()) {
            return;
        }
        ByteBuf copy = peer.channel().alloc().directBuffer(json.length());
        copy.writeBytes(json.array(), 0, json.length());
        Future<Void> sent;
        try {
            head(status, JSON);
            sent = end(BufferInternal.buffer(copy));
        } catch (RuntimeException e) {
            copy.release();
            throw e;
        }
        // Vert.x leaves a buffer that isn't its own to whoever made it.
        sent.onComplete(done -> copy.release());
    }

    void answer(int status, CharSequence contentType, Buffer content) {
        if (answered()) {
            return;
        }
        head(status, contentType);
        end(content);
    }

    /**
     * Begins an answer of unknown length.
     *
     * @return false if the client is gone
     */
    boolean beginStream(CharSequence contentType) {
        if (answered()) {
            return false;
        }
        head(200, contentType);
        if (request.version() == HttpVersion.HTTP_1_0) {
            peer.closeSoon();
        }
        response.setChunked(true);
        paced();
        return true;
    }

    /** Before the first piece of an answer that is written in pieces: bounds what waits for the client. */
    void paced() {
        closeIfMust();
        response.setWriteQueueMaxSize(Math.min(edge.options().subscriberBufferBytes(), WAITING_BYTES_MAX));
    }

    /** Ends the answer to a HEAD request whose head is set. */
    void endHead() {
        closeIfMust();
        response.end();
    }

    /** Ends the answer whose head is set. */
    @CanIgnoreReturnValue
    Future<Void> end(Buffer content) {
        if (isHead()) {
            response.headers().set(HttpHeaders.CONTENT_LENGTH, Integer.toString(content.length()));
        }
        closeIfMust();
        return isHead() ? response.end() : response.end(content);
    }

    /** An answer without content. */
    void empty(int status) {
        if (answered()) {
            return;
        }
        head(status, JSON);
        response.headers().remove(HttpHeaders.CONTENT_TYPE);
        closeIfMust();
        response.end();
    }

    /** Answers with what went wrong. */
    void refuse(Throwable failure) {
        refuse(ProblemJson.of(failure));
    }

    void refuse(ProblemJson problem) {
        if (answered()) {
            return;
        }
        if (response.headWritten()) {
            cut();
            return;
        }
        head(problem.status(), PROBLEM);
        if (problem.status() == 503) {
            response.headers().set("retry-after", "1");
        } else if (problem.status() == 429) {
            response.headers().set("retry-after", "60");
        }
        Object expectedSeq = problem.fields().get("expected_seq");
        if (expectedSeq != null) {
            response.headers().set("Producer-Expected-Seq", expectedSeq.toString());
        }
        end(problem.body().buffer());
    }

    /** Ends an answer that has begun so that the client sees that it isn't whole. */
    void cut() {
        peer.close();
    }

    /** The connection is a WebSocket now. */
    void upgraded() {
        edge.forget(peer);
    }

    /** Answers and then closes the connection, whatever still comes on it. */
    void refuseAndClose(ProblemJson problem) {
        peer.closeSoon();
        refuse(problem);
    }

    /** Hands the result on, and any failure, also one of {@code then}, to the client. */
    <T> void on(Future<T> future, Consumer<T> then) {
        onResult(future, result -> deliver(result, then));
    }

    /** Hands a result on, and any failure, also one of {@code then}, to the client. On the connection's event loop. */
    <T> void deliver(AsyncResult<T> result, Consumer<T> then) {
        if (result.succeeded()) {
            guard(() -> then.accept(result.result()));
        } else {
            refuse(result.cause());
        }
    }

    /** Hands a result on, on the connection's event loop whatever thread it comes on. */
    <T> void onResult(Future<T> future, Handler<AsyncResult<T>> then) {
        future.onComplete(result -> {
            if (Thread.currentThread() == eventLoop) {
                then.handle(result);
            } else {
                context.runOnContext(v -> then.handle(result));
            }
        });
    }

    /** Runs a step when other work of this event loop has had its turn. */
    void later(Runnable step) {
        context.runOnContext(v -> guard(step));
    }

    /** Runs a step of the route; what it throws is the answer. */
    void guard(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException | StackOverflowError e) {
            refuse(e);
        }
    }

    // ---- the request's body, and the end of the connection

    Body body() {
        return body;
    }

    private void closeIfMust() {
        if (!peer.ending() && !body.costsTheConnection()) {
            return;
        }
        response.headers().set(HttpHeaders.CONNECTION, HttpHeaders.CLOSE);
        peer.closeSoon();
        response.endHandler(v -> closeWhenDone());
        if (body.isUnderWay()) {
            body.readAway(this::closeWhenDone);
        }
    }

    private void closeWhenDone() {
        if (done()) {
            peer.close();
        }
    }

    // ---- time

    void tick(long nowNs) {
        long bodyMs = edge.options().timeouts().bodyMs();
        if (body.isLate(nowNs, bodyMs)) {
            if (response.headWritten()) {
                peer.close();
            } else {
                refuseAndClose(ProblemJson.of(
                        Refusal.REQUEST_TIMEOUT,
                        "the body didn't arrive within " + bodyMs + " ms; nothing was stored"));
            }
        } else {
            tickAnswer(nowNs);
        }
    }

    /** Ends an answer that the client takes nothing of any more, or that nobody is there to take. */
    private void tickAnswer(long nowNs) {
        if (!answered() && response.headWritten() && isLost(nowNs)) {
            peer.abort();
            return;
        }
        if (answered() || !response.headWritten() || !response.writeQueueFull()) {
            fullSinceNs = 0;
        } else if (fullSinceNs == 0) {
            fullSinceNs = nowNs;
        } else if (nowNs - fullSinceNs >= edge.options().timeouts().stallMs() * 1_000_000) {
            peer.abort();
        }
    }

    private boolean isLost(long nowNs) {
        TcpPulse known = pulse;
        if (known == null) {
            known = TcpPulse.of(peer.channel(), edge.options().timeouts(), nowNs);
            pulse = known;
        }
        return known.isLost(nowNs);
    }
}
