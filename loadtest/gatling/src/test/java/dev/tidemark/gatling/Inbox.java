package dev.tidemark.gatling;

import io.gatling.http.action.ws.WsInboundMessage;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/** What one subscriber got: all events, each once, in the order of their ids, and nothing that says otherwise. Its session owns it. */
final class Inbox {
    private static final String EVENT = "{\"type\":\"event\",\"id\":\"";
    private static final int ID_LENGTH = "EVT".length() + 11;
    private static final List<String> HARMLESS =
            List.of("{\"type\":\"heartbeat\"", "{\"type\":\"caught_up\"", "{\"type\":\"fell_behind\"");

    private final Deliveries deliveries;
    private long received;
    private String last = "";
    private String wrong = "";

    Inbox(Deliveries deliveries) {
        this.deliveries = deliveries;
    }

    /** Takes what has come; gives the latency of any one of the events that count in milliseconds, or -1 if there was none. */
    int take(List<WsInboundMessage> messages) {
        int sample = -1;
        int seen = 0;
        for (WsInboundMessage message : messages) {
            if (message instanceof WsInboundMessage.Text text) {
                int latencyMs = take(text.message(), text.timestamp());
                if (latencyMs >= 0 && ThreadLocalRandom.current().nextInt(++seen) == 0) {
                    sample = latencyMs;
                }
            }
        }
        return sample;
    }

    /** Takes a message; gives the latency of an event that counts in milliseconds, else -1. */
    private int take(String message, long atMs) {
        if (!message.startsWith(EVENT)) {
            if (HARMLESS.stream().noneMatch(message::startsWith)) {
                wrong = message;
            }
            return -1;
        }
        String id = message.substring(EVENT.length(), EVENT.length() + ID_LENGTH);
        if (id.compareTo(last) <= 0) {
            wrong = id + " after " + last;
        }
        last = id;
        received++;
        long sentMs = Payloads.sentMs(message);
        if (!deliveries.counts(sentMs)) {
            return -1;
        }
        int latencyMs = (int) Math.max(0, atMs - sentMs);
        deliveries.delivered(latencyMs);
        return latencyMs;
    }

    /** Whether nothing more is to come. */
    boolean isDone() {
        boolean all = deliveries.isOver() && received >= deliveries.appended();
        return all || !wrong.isEmpty() || deliveries.isTooLate();
    }

    /** Whether it got all that was appended; says on the standard error what is wrong if not. */
    boolean isComplete() {
        boolean complete = wrong.isEmpty() && received == deliveries.appended();
        if (!complete) {
            System.err.println("a subscriber got " + received + " of " + deliveries.appended() + " events; "
                    + (wrong.isEmpty() ? "nothing else is wrong" : wrong));
        }
        return complete;
    }
}
