package dev.tidemark.livelog;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tidemark.livelog.LiveLogException.Kind;
import io.vertx.redis.client.impl.types.ErrorType;
import java.io.IOException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every error text of Redis that we know of means what it should. */
@Tag("R40")
final class RedisErrorsTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "OUT_OF_MEMORY | OOM command not allowed when used memory > 'maxmemory'.",
                "OUT_OF_MEMORY | @user_script: 1: -OOM command not allowed when used memory > 'maxmemory'.",
                "OUT_OF_MEMORY | ERR Error running script (call to f_2f0adc49): @user_script:1: @user_script: 1: -OOM command not allowed when used memory > 'maxmemory'.",
                "OUT_OF_MEMORY | OOM command not allowed when used memory > 'maxmemory'. script: 2f0adc49, on @user_script:1.",
                "OUT_OF_MEMORY | ERR command not allowed when used memory > 'maxmemory'.",
                "NOT_NOW | LOADING Redis is loading the dataset in memory",
                "NOT_NOW | READONLY You can't write against a read only replica.",
                "NOT_NOW | @user_script: 1: -READONLY You can't write against a read only replica.",
                "NOT_NOW | MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.",
                "NOT_NOW | @user_script: 7: -MISCONF Errors writing to the AOF file: No space left on device",
                "NOT_NOW | BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
                "NOT_NOW | MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
                "NOT_NOW | CLUSTERDOWN Hash slot not served",
                "NOT_NOW | TRYAGAIN Multiple keys request during rehashing of slot",
                "NOT_NOW | NOREPLICAS Not enough good replicas to write.",
                "NOT_NOW | NOSCRIPT No matching script. Please use EVAL.",
                "NOT_NOW | ERR max number of clients reached",
                "ID_TOO_LOW | ERR The ID specified in XADD is equal or smaller than the target stream top item",
                "ID_TOO_LOW | ERR The ID specified in XSETID is smaller than the target stream top item",
                "ID_TOO_LOW | ERR The ID specified in XSETID is smaller than current max_deleted_entry_id",
                "ID_TOO_LOW | ERR The stream has exhausted the last possible ID, unable to add more items",
                "KEY_MISSING | ERR no such key",
                "REFUSED | WRONGTYPE Operation against a key holding the wrong kind of value",
                "REFUSED | ERR Error running script (call to f_462f): @user_script:1: WRONGTYPE Operation against a key holding the wrong kind of value",
                "REFUSED | NOAUTH Authentication required.",
                "REFUSED | WRONGPASS invalid username-password pair or user is disabled.",
                "REFUSED | NOPERM this user has no permissions to run the 'xadd' command or its subcommand",
                "REFUSED | MOVED 3999 127.0.0.1:6381",
                "REFUSED | ASK 3999 127.0.0.1:6381",
                "REFUSED | CROSSSLOT Keys in request don't hash to the same slot",
                "REFUSED | ERR unknown command `XADD`, with args beginning with: ",
                "REFUSED | ERR syntax error",
                "REFUSED | BUSYGROUP Consumer Group name already exists",
                "REFUSED | SOMETHING that no one has seen before",
                "UNKNOWN | PARTIAL OOM command not allowed when used memory > 'maxmemory'.",
            })
    void textsMeanWhatIsKnownOfTheCommand(Kind kind, String text) {
        assertEquals(kind, RedisErrors.kind(text));
        assertEquals(kind, RedisErrors.of(ErrorType.create(text)).kind());
    }

    @Test
    void aBrokenConnectionLeavesTheOutcomeOpen() {
        assertEquals(
                Kind.UNKNOWN,
                RedisErrors.of(ErrorType.create("CONNECTION_CLOSED")).kind());
        assertEquals(
                Kind.UNKNOWN,
                RedisErrors.of(new IOException("Connection reset")).kind());
        assertEquals(Kind.UNKNOWN, RedisErrors.of(new IllegalStateException()).kind());
        assertFalse(RedisErrors.isAnswer(ErrorType.create("CONNECTION_CLOSED")));
        assertTrue(RedisErrors.isAnswer(ErrorType.create("ERR no such key")));
    }

    @Test
    void aConnectionThatCouldNotBeMadeSentNothing() {
        RedisAddress address = RedisAddress.parse("redis://:secret@127.0.0.1:1");
        LiveLogException refused = RedisErrors.ofConnect(new IOException("Connection refused"), address);
        assertEquals(Kind.NOT_SENT, refused.kind());
        assertTrue(String.valueOf(refused.getMessage()).contains("127.0.0.1:1"));
        assertFalse(String.valueOf(refused.getMessage()).contains("secret"));
        assertEquals(
                Kind.REFUSED,
                RedisErrors.ofConnect(ErrorType.create("WRONGPASS invalid"), address)
                        .kind());
        assertEquals(
                Kind.NOT_SENT,
                RedisErrors.ofConnect(ErrorType.create("CONNECTION_CLOSED"), address)
                        .kind());
    }

    @Test
    void everyKindSaysWhetherItMayHaveBeenExecutedAndWhetherToTryAgain() {
        for (Kind kind : Kind.values()) {
            assertEquals(kind != Kind.UNKNOWN, kind.notExecuted(), kind.name());
            assertEquals(kind != Kind.REFUSED, kind.retryable(), kind.name());
        }
    }

    @Test
    void aReplicaAndALostLoginAskForANewConnection() {
        assertTrue(RedisErrors.asksForNewConnection(ErrorType.create("READONLY You can't write")));
        assertTrue(RedisErrors.asksForNewConnection(ErrorType.create("@user_script: 1: -READONLY You can't write")));
        assertTrue(RedisErrors.asksForNewConnection(ErrorType.create("NOAUTH Authentication required.")));
        assertFalse(RedisErrors.asksForNewConnection(ErrorType.create("OOM command not allowed")));
        assertTrue(RedisErrors.isNoScript(ErrorType.create("NOSCRIPT No matching script. Please use EVAL.")));
    }
}
