package dev.tidemark.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Command lines that are wrong: exit code 2, one line, nothing done. */
class UsageTest {
    @ParameterizedTest
    @Tag("T14")
    @CsvSource(delimiter = '|', textBlock = """
        bogus                                  | Unmatched argument at index 0: 'bogus'
        tail                                   | Missing required parameter: 'STREAM'
        tail s -n -1                           | -n: '-1' isn't a whole number from 0
        tail s -n ten                          | -n: 'ten' isn't a whole number from 0
        tail s --output xml                    | Invalid value for option '--output'
        tail s --view dead                     | Invalid value for option '--view'
        tail .. -n 1                           | not a stream name: '..' is reserved
        read s --limit x                       | --limit: 'x' isn't a whole number from 0
        read s --url ftp://x                   | --url: 'ftp://x' isn't a URL
        read s --url http://x?y                | --url: 'http://x?y' isn't a URL
        read s --url :                         | --url: ':' isn't a URL
        append s --whole --envelopes           | --whole and --envelopes exclude each other
        append s --type text/plain             | --type needs --whole
        append s --whole --type application/x-ndjson | --type: application/x-ndjson is a format of many events
        append s /no/such/file                 | there is no file /no/such/file
        append s /                             | / is a directory
        streams create s --set x               | --set: 'x' isn't KEY=VALUE
        streams create s --set a=1 --set a=2   | --set: a is there twice
        streams --url : delete s               | --url: ':' isn't a URL
        streams delete s --url :               | --url: ':' isn't a URL
        streams destroy s                      | Unmatched argument
        serve --bogus                          | Unknown option: '--bogus'
        --bogus                                | Unknown option: '--bogus'
        --port 99999                           | http.port: '99999' is out of range; allowed is
        serve --config /no/such.yaml           | /no/such.yaml: there is no such file
        serve --redis http://x                 | redis.url: isn't a URL of Redis
        """)
    void isSaidInOneLineWithExitCodeTwo(String line, String message) {
        Run run = new Run();
        int exitCode = run.command(line.split(" +", -1));
        assertTrue(run.err().startsWith("tidemark: " + message), run.err());
        assertEquals(2, exitCode);
        assertEquals(1, run.err().lines().count(), run.err());
        assertEquals("", run.out());
    }

    @Test
    void argumentsThatTheLocaleSpoiltAreTakenFromTheSystem() {
        byte[] commandLine = "java\0-jar\0t.jar\0tail\0größe\0a?b\0".getBytes(StandardCharsets.UTF_8);
        String[] spoilt = {"tail", "gr????e", "a?b"};
        assertEquals(
                java.util.List.of("tail", "größe", "a?b"), java.util.List.of(Arguments.redecode(spoilt, commandLine)));
        assertEquals("gr????e", Arguments.redecode(spoilt, new byte[0])[1]);
    }

    @Test
    void anArgumentThatIsNotUtf8IsRefusedInsteadOfNamingAnotherStream() {
        byte[] commandLine = {'a', 0, 'x', (byte) 0xff, 0};
        CommandFailure refused =
                assertThrows(CommandFailure.class, () -> Arguments.redecode(new String[] {"x\ufffd"}, commandLine));
        assertEquals(2, refused.exitCode());
    }
}
