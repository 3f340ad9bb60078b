package dev.tidemark.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What the crash harness must find, the ledger finds. */
class LedgerTest {
    private final Ledger ledger = new Ledger();
    private final Script writer = new Script();
    private final List<Seen> whole = new ArrayList<>();

    /** Two acknowledged requests and one with an open outcome, of two events each; all six are there. */
    LedgerTest() {
        writer.acked(0, 2, "EVT0", "EVT1");
        writer.open(2, 2);
        writer.acked(4, 2, "EVT4", "EVT5");
        for (int n = 0; n < 6; n++) {
            whole.add(event(n, n));
        }
    }

    private static final class Script extends NumberedWriter {
        private Script() {
            super(0, 1, 1, 0);
        }

        @Override
        void send(long from, int count) {
            throw new UnsupportedOperationException();
        }
    }

    private static Seen event(int id, int number) {
        return new Seen("EVT" + id, 0, number);
    }

    private void assertFound(long lost, long repeated, long disordered) {
        ledger.compare("the stream", whole, List.of(writer), true);
        assertEquals(
                List.of(lost, repeated, disordered),
                List.of(ledger.lost(), ledger.repeated(), ledger.disordered()),
                () -> "lost, repeated, out of order: " + ledger.details());
        assertEquals(lost + repeated + disordered == 0, ledger.isClean());
    }

    @Test
    void allThatWasAcknowledgedOnceAndInOrderIsClean() {
        assertFound(0, 0, 0);
    }

    @Test
    void anOpenRequestMayBeMissingAsAWhole() {
        whole.subList(2, 4).clear();
        assertFound(0, 0, 0);
    }

    @Test
    void anOpenRequestIsNotThereInPart() {
        whole.remove(2);
        assertFound(1, 0, 0);
    }

    @Test
    void aMissingAcknowledgedEventIsLost() {
        whole.remove(1);
        assertFound(1, 0, 0);
    }

    @Test
    void anEventThatIsThereTwiceIsRepeated() {
        whole.add(event(6, 3));
        assertFound(0, 1, 0);
    }

    @Test
    void anEventThatWasNeverSentOrRefusedCountsAsRepeated() {
        whole.add(event(6, 6));
        assertFound(0, 1, 0);
    }

    @Test
    void idsThatDontRiseAreOutOfOrder() {
        Collections.swap(whole, 2, 3);
        assertFound(0, 0, 2);
    }

    @Test
    void otherIdsThanAcknowledgedAreOutOfOrder() {
        whole.set(5, event(7, 5));
        assertFound(0, 0, 2);
    }

    @Test
    void aPageWithAHoleOrWithWhatIsGoneLaterIsFound() {
        ledger.stretch("a page", List.of(event(1, 1), event(2, 2)), whole, Ledger.places(whole));
        assertTrue(ledger.isClean());
        ledger.stretch("a page", List.of(event(1, 1), event(3, 3)), whole, Ledger.places(whole));
        ledger.stretch("a page", List.of(event(8, 8)), whole, Ledger.places(whole));
        assertEquals(2, ledger.lost());
    }

    @Test
    void aVerdictWithAnyFindingIsNotClean() {
        Verdict verdict = new Verdict();
        verdict.add("kill", 5, 10, ledger);
        assertTrue(verdict.isClean());
        ledger.watermarkBack("from 2 to 1");
        verdict.add("kill", 5, 10, ledger);
        assertTrue(!verdict.isClean() && verdict.text().contains("W back: from 2 to 1"), verdict::text);
    }
}
