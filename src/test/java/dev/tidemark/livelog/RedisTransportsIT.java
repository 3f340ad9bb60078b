package dev.tidemark.livelog;

import static dev.tidemark.livelog.LiveLogContract.await;
import static dev.tidemark.livelog.LiveLogContract.events;
import static dev.tidemark.livelog.LiveLogContract.longs;
import static dev.tidemark.livelog.LiveLogContract.ordinals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tidemark.event.Generation;
import dev.tidemark.event.Position;
import dev.tidemark.event.StreamId;
import dev.tidemark.event.StreamName;
import dev.tidemark.event.StripeId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The same live log over a Unix socket, TLS, and IPv6. */
final class RedisTransportsIT {
    private final StripeId stripe = new StripeId(new StreamId(new StreamName("t"), new Generation(3)), 0);

    private void appendAndRead(RedisAddress address) {
        try (RealLiveLog real = new RealLiveLog(RedisSettings.of(address))) {
            await(real.log().open(false));
            StripeAppender appender = real.appender();
            await(real.onLoop(() -> appender.create(stripe)));
            await(real.onLoop(() -> appender.append(stripe, events(1, 200))));
            LiveLogPage page = await(real.log().range(stripe, Position.ZERO, Position.MAX, 1_000));
            assertEquals(longs(1, 200), ordinals(page));
        }
    }

    @Test
    void aUnixSocketWorks(@TempDir Path dir) throws IOException {
        Path directory = Files.createDirectory(dir.resolve("tm sock"));
        Path socket = directory.resolve("r s.sock");
        try (RedisProcess redis = RedisProcess.start("--unixsocket", socket.toString())) {
            appendAndRead(RedisAddress.parse("unix://" + socket.toString().replace(" ", "%20") + "?db=1"));
            assertEquals(java.util.List.of("0"), redis.ask("EXISTS", "tidemark:owner"));
        }
    }

    @Test
    void ipV6Works() throws IOException {
        assumeTrue(Files.exists(Path.of("/proc/net/if_inet6")) && Files.size(Path.of("/proc/net/if_inet6")) >= 0);
        assumeTrue(!Files.readString(Path.of("/proc/net/if_inet6")).isEmpty(), "no IPv6 here");
        try (RedisProcess redis = RedisProcess.start("--bind", "127.0.0.1", "::1")) {
            appendAndRead(RedisAddress.parse("redis://[::1]:" + redis.port()));
        }
    }

    @Test
    void tlsWorksWithATrustedAuthorityAndOnlyThen(@TempDir Path directory) throws Exception {
        Path openssl = Path.of("/usr/bin/openssl");
        assumeTrue(Files.isExecutable(openssl), "needs openssl to make a certificate");
        Process made = new ProcessBuilder(
                        openssl.toString(),
                        "req",
                        "-x509",
                        "-newkey",
                        "rsa:2048",
                        "-nodes",
                        "-days",
                        "2",
                        "-subj",
                        "/CN=localhost",
                        "-addext",
                        "subjectAltName=DNS:localhost",
                        "-keyout",
                        "key.pem",
                        "-out",
                        "cert.pem")
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("out").toFile())
                .start();
        assumeTrue(made.waitFor(30, TimeUnit.SECONDS) && made.exitValue() == 0, "openssl makes no certificate");
        int port = RedisProcess.freePort();
        String cert = directory.resolve("cert.pem").toString();
        try (RedisProcess redis = RedisProcess.start(
                "--tls-port",
                Integer.toString(port),
                "--tls-cert-file",
                cert,
                "--tls-key-file",
                directory.resolve("key.pem").toString(),
                "--tls-ca-cert-file",
                cert,
                "--tls-auth-clients",
                "no")) {
            appendAndRead(RedisAddress.parse("rediss://localhost:" + port + "?ca=" + cert.replace("/", "%2F")));
            try (RealLiveLog untrusting =
                    new RealLiveLog(RedisSettings.of(RedisAddress.parse("rediss://localhost:" + port)))) {
                LiveLogException refused = assertThrows(
                        LiveLogException.class, () -> await(untrusting.log().open(false)));
                assertEquals(LiveLogException.Kind.NOT_SENT, refused.kind());
            }
            assertEquals(java.util.List.of("PONG"), redis.ask("PING"));
        }
    }
}
