package dev.tidemark.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.server.StraceLog.Call;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class StraceLogTest {
    private static List<Call> calls(String... lines) {
        return StraceLog.of(List.of(lines)).calls();
    }

    @Test
    void aCallOnOneLineBeginsAndEndsThere() {
        Call call = calls("12    fsync(57</d/a.cq4>)                = 0").get(0);
        assertEquals(new Call("fsync", "57</d/a.cq4>", "0", 0, 0), call);
        assertTrue(call.forces() && call.succeeded() && call.isOn(Path.of("/d/a.cq4")));
        assertFalse(call.isOn(Path.of("/d/a")));
    }

    @Test
    void anInterruptedCallEndsWhereItIsResumed() {
        List<Call> calls = calls(
                "12 fsync(57</d/a.cq4> <unfinished ...>",
                "13 write(9<socket:[4]>, \"*5\\r\\n$5\\r\\nXTRIM\\r\\n\", 99 <unfinished ...>",
                "12 <... fsync resumed>)                   = 0",
                "13 <... write resumed>)                   = 99");
        Call forced = calls.get(0);
        Call sent = calls.get(1);
        assertEquals(2, forced.end());
        assertTrue(forced.succeeded() && sent.sends("XTRIM"));
        assertFalse(forced.end() < sent.begin(), "it was sent before the force had ended");
    }

    @Test
    void aCallThatFailedOrNeverEndedIsNoSuccess() {
        assertFalse(
                calls("1 fsync(5</d/a>) = -1 EIO (Input/output error)").get(0).succeeded());
        Call hanging = calls("1 fsync(5</d/a> <unfinished ...>", "2 +++ exited with 0 +++")
                .get(0);
        assertFalse(hanging.succeeded());
        assertEquals(Integer.MAX_VALUE, hanging.end());
        assertFalse(calls("1 fsync(5</d/a>) = ?").get(0).succeeded());
    }

    @Test
    void onlyWaitingCallsForceAndOnlySocketsSend() {
        assertTrue(calls("1 msync(0x7f, 4096, MS_SYNC) = 0").get(0).forces());
        assertFalse(calls("1 msync(0x7f, 4096, MS_ASYNC) = 0").get(0).forces());
        assertFalse(
                calls("1 write(5</d/appendonly.aof>, \"XTRIM\", 5) = 5").get(0).sends("XTRIM"));
        assertTrue(calls("1 sendto(5<TCP:[1->2]>, \"XTRIM (a) \", 5, 0, NULL, 0) = 5")
                .get(0)
                .sends("XTRIM"));
    }
}
