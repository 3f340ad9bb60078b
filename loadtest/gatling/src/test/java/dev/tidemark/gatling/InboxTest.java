package dev.tidemark.gatling;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.gatling.http.action.ws.WsInboundMessage;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** That a subscriber which misses something, or gets too much, is noticed. */
class InboxTest {

    private final Deliveries deliveries = new Deliveries(2);
    private final Inbox inbox = new Inbox(deliveries);

    private static String event(int number) {
        return "{\"type\":\"event\",\"id\":\"EVT0000000000" + number + "\",\"cursor\":\"1\",\"at\":1,\"data\":"
                + Payloads.event() + "}";
    }

    private static List<WsInboundMessage> messages(String... texts) {
        return Arrays.stream(texts)
                .<WsInboundMessage>map(text -> new WsInboundMessage.Text(Payloads.sentMs(text) + 7, text))
                .toList();
    }

    private void appendAll() {
        deliveries.answered(true);
        deliveries.answered(true);
    }

    @Test
    void allEventsInOrderAreComplete() {
        assertEquals(-1, inbox.take(messages(event(1))), "an event of the warm-up");
        assertFalse(inbox.isDone());
        deliveries.count();
        assertEquals(7, inbox.take(messages("{\"type\":\"heartbeat\"}", event(2))));
        appendAll();
        assertTrue(inbox.isDone());
        assertTrue(inbox.isComplete());
        assertTrue(deliveries.summary().contains("of 1 deliveries"), deliveries.summary());
    }

    @Test
    void aMissingEventIsNoticed() {
        inbox.take(messages(event(2)));
        appendAll();
        assertFalse(inbox.isDone(), "it may still come");
        assertFalse(inbox.isComplete());
    }

    @Test
    void anEventThatComesTwiceIsNoticed() {
        inbox.take(messages(event(1), event(1)));
        appendAll();
        assertTrue(inbox.isDone());
        assertFalse(inbox.isComplete());
    }

    @Test
    void aGapIsNoticed() {
        inbox.take(messages(event(1), event(2), "{\"type\":\"gap\",\"from\":\"EVT00000000001\"}"));
        appendAll();
        assertFalse(inbox.isComplete());
    }

    @Test
    void anEventThatWasNotAppendedIsNoticed() {
        inbox.take(messages(event(1), event(2)));
        deliveries.answered(true);
        deliveries.answered(false);
        assertFalse(inbox.isComplete());
    }

    @Test
    void payloadsCarryTheirTime() {
        long before = System.currentTimeMillis();
        long sentMs = Payloads.sentMs(event(1));
        assertTrue(sentMs >= before && sentMs <= System.currentTimeMillis());
        assertEquals(-1, Payloads.sentMs("{\"type\":\"heartbeat\"}"));
    }
}
