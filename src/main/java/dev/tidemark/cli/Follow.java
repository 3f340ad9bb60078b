package dev.tidemark.cli;

import dev.tidemark.client.wire.Backoff;
import dev.tidemark.client.wire.JsonFields;
import java.io.IOException;
import java.net.ConnectException;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.WebSocket;
import java.net.http.WebSocketHandshakeException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Follows a stream over a WebSocket, across restarts of the server: whenever the connection ends and may be made again, it goes
 * on after the last cursor. Everything happens on the calling thread; the socket's thread only hands over, one message ahead at
 * most.
 *
 * <pre>
 *  CONNECT --opened--> LISTEN --broken, or closed with a code below 4500--> PAUSE --> CONNECT
 *     `--- refused, or not reachable the first time --> failure    LISTEN --4500 and above--> failure
 * </pre>
 */
final class Follow {
    private static final int CODE_FINAL_MIN = 4500;
    /** No close frame came. */
    private static final int CODE_BROKEN = 1006;
    /** The server sends a heartbeat after 15 s of silence: longer silence is a dead connection. */
    private static final long SILENCE_MAX_MS = 40_000;

    private static final byte[] EVENT_TYPE = "{\"type\":\"event\",".getBytes(StandardCharsets.US_ASCII);

    private final Api api;
    private final Terminal terminal;
    private final EventPrinter printer;
    private final String path;
    private final Map<String, String> query;
    private final Backoff backoff = new Backoff(100, 5_000, new SplittableRandom());
    private boolean everConnected;
    private boolean lossNoted;

    /** What the socket hands over. */
    private sealed interface Signal {
        /** The handshake is done. */
        record Opened(WebSocket socket) implements Signal {}

        /** A whole message; the next one comes when the socket is asked. May overtake {@link Opened}. */
        record Message(WebSocket socket, String json) implements Signal {}

        /** The server closed it. */
        record Closed(int code, String reason) implements Signal {}

        /** It broke, or couldn't be made. */
        record Failed(Throwable cause) implements Signal {}
    }

    Follow(Api api, Terminal terminal, EventPrinter printer, String path, Map<String, String> query) {
        this.api = api;
        this.terminal = terminal;
        this.printer = printer;
        this.path = path;
        this.query = query;
    }

    /**
     * Prints the newest {@code n} events and then what comes. Returns only by {@link Terminal.Closed} or a failure.
     *
     * @throws CommandFailure if the server doesn't want us, or wasn't there in the first place
     */
    int run(String n) {
        while (true) {
            Map<String, String> parameters = new LinkedHashMap<>(query);
            if (printer.cursor().isEmpty()) {
                parameters.put("tail", n);
            } else {
                parameters.put("after", printer.cursor());
            }
            String reason = oneConnection(Api.withQuery(path, parameters));
            if (!lossNoted) {
                lossNoted = true;
                terminal.note(reason + "; trying again");
            }
            pause(backoff.nextMs());
        }
    }

    /** Why it ended, if it may be made again. */
    private String oneConnection(String pathAndQuery) {
        BlockingQueue<Signal> signals = new LinkedBlockingQueue<>();
        WebSocket socket = null;
        var unused = api.subscribe(pathAndQuery, new Frames(signals)).whenComplete((opened, failure) -> {
            signals.add(failure == null ? new Signal.Opened(opened) : new Signal.Failed(failure));
        });
        try {
            while (true) {
                Signal signal = take(signals);
                if (signal == null) {
                    return "the server has been silent for " + SILENCE_MAX_MS / 1_000 + "s";
                } else if (signal instanceof Signal.Opened opened) {
                    socket = opened.socket();
                } else if (signal instanceof Signal.Message message) {
                    socket = message.socket();
                    receive(message.json().getBytes(StandardCharsets.UTF_8));
                    socket.request(1);
                } else if (signal instanceof Signal.Closed closed) {
                    return closed(closed);
                } else if (signal instanceof Signal.Failed failed) {
                    return failed(failed.cause());
                }
            }
        } finally {
            if (socket != null) {
                socket.abort();
            }
        }
    }

    private @Nullable Signal take(BlockingQueue<Signal> signals) {
        if (signals.isEmpty()) {
            terminal.flush();
        }
        try {
            return signals.poll(SILENCE_MAX_MS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw CommandFailure.refused("interrupted");
        }
    }

    private void receive(byte[] json) {
        JsonFields fields;
        try {
            fields = JsonFields.of(json);
        } catch (JsonFields.Malformed e) {
            throw CommandFailure.refused("the server sent what isn't JSON: " + e.getMessage());
        }
        switch (fields.text("type", "event")) {
            case "hello" -> {
                everConnected = true;
                lossNoted = false;
                backoff.reset();
                printer.print(json, fields);
            }
            default -> printer.print(withoutType(json), fields);
        }
    }

    /** An event as the other answers give it. */
    private static byte[] withoutType(byte[] json) {
        boolean typed = json.length > EVENT_TYPE.length
                && java.util.Arrays.equals(json, 0, EVENT_TYPE.length, EVENT_TYPE, 0, EVENT_TYPE.length);
        if (!typed) {
            return json;
        }
        byte[] event = new byte[json.length - EVENT_TYPE.length + 1];
        event[0] = '{';
        System.arraycopy(json, EVENT_TYPE.length, event, 1, event.length - 1);
        return event;
    }

    private String closed(Signal.Closed closed) {
        String error = printer.takeError();
        String why = error.isEmpty() ? closed.reason() : error;
        if (closed.code() >= CODE_FINAL_MIN) {
            terminal.flush();
            throw CommandFailure.refused(
                    "the server ended the subscription with code " + closed.code() + (why.isEmpty() ? "" : ": " + why));
        }
        if (closed.code() == CODE_BROKEN) {
            return "the connection to " + api + " broke" + (why.isEmpty() ? "" : " (" + why + ")");
        }
        return "the server closed the subscription with code " + closed.code() + (why.isEmpty() ? "" : ": " + why);
    }

    private String failed(Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        if (cause instanceof WebSocketHandshakeException refused) {
            int status = refused.getResponse().statusCode();
            if (status < 500 || !everConnected) {
                throw CommandFailure.refused("the server refused the subscription with HTTP status " + status);
            }
            return "the server answered with HTTP status " + status;
        }
        boolean notConnected = cause instanceof ConnectException || cause instanceof HttpConnectTimeoutException;
        if (!everConnected && cause instanceof IOException e) {
            throw notConnected
                    ? CommandFailure.notReachable("can't reach " + api + "; is the server running there?")
                    : api.notReachable(e);
        }
        return api.lost(cause);
    }

    private static void pause(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw CommandFailure.refused("interrupted");
        }
    }

    /** Puts the frames of a message together. Called by the socket, one call at a time. */
    private static final class Frames implements WebSocket.Listener {
        private final BlockingQueue<Signal> signals;
        private final StringBuilder message = new StringBuilder();

        Frames(BlockingQueue<Signal> signals) {
            this.signals = signals;
        }

        @Override
        public java.util.concurrent.@Nullable CompletionStage<?> onText(
                WebSocket socket, CharSequence data, boolean last) {
            message.append(data);
            if (last) {
                signals.add(new Signal.Message(socket, message.toString()));
                message.setLength(0);
            } else {
                socket.request(1);
            }
            return null;
        }

        @Override
        public java.util.concurrent.@Nullable CompletionStage<?> onClose(WebSocket socket, int code, String reason) {
            signals.add(new Signal.Closed(code, reason));
            return null;
        }

        @Override
        public void onError(WebSocket socket, Throwable error) {
            signals.add(new Signal.Failed(error));
        }
    }
}
