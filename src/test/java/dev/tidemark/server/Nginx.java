package dev.tidemark.server;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** An nginx in front of a server, configured as its documentation says for WebSocket and otherwise by its defaults. */
final class Nginx implements AutoCloseable {
    private static final Path BINARY = Path.of("/usr/sbin/nginx");

    private final Process process;
    private final int port;

    /** @param timeouts directives besides the defaults, such as {@code proxy_read_timeout 3s;} */
    Nginx(Path dir, String server, String timeouts) throws IOException {
        if (!Files.isExecutable(BINARY)) {
            throw new IllegalStateException("no nginx at " + BINARY + "; install nginx-light");
        }
        Path home = Files.createDirectories(dir.resolve("nginx"));
        port = freePort();
        Files.writeString(home.resolve("nginx.conf"), """
                daemon off;
                master_process off;
                pid HOME/pid;
                error_log stderr warn;
                events {}
                http {
                  access_log off;
                  client_body_temp_path HOME/body;
                  proxy_temp_path HOME/proxy;
                  fastcgi_temp_path HOME/fastcgi;
                  uwsgi_temp_path HOME/uwsgi;
                  scgi_temp_path HOME/scgi;
                  map $http_upgrade $connection_upgrade {
                    default upgrade;
                    '' close;
                  }
                  server {
                    listen 127.0.0.1:PORT;
                    location / {
                      proxy_pass SERVER;
                      proxy_http_version 1.1;
                      proxy_set_header Upgrade $http_upgrade;
                      proxy_set_header Connection $connection_upgrade;
                      TIMEOUTS
                    }
                  }
                }
                """.replace("HOME", home.toString())
                .replace("PORT", Integer.toString(port))
                .replace("SERVER", server)
                .replace("TIMEOUTS", timeouts));
        process = new ProcessBuilder(
                        BINARY.toString(),
                        "-p",
                        home.toString(),
                        "-c",
                        home.resolve("nginx.conf").toString())
                .redirectErrorStream(true)
                .redirectOutput(home.resolve("log").toFile())
                .start();
        awaitListening(home);
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private void awaitListening(Path home) throws IOException {
        for (int tries = 0; tries < 200; tries++) {
            if (!process.isAlive()) {
                throw new IllegalStateException("nginx ended: " + Files.readString(home.resolve("log")));
            }
            try (Socket socket = new Socket()) {
                socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1_000);
                return;
            } catch (IOException notYet) {
                Waiting.ms(50);
            }
        }
        throw new IllegalStateException("nginx doesn't listen");
    }

    URI url() {
        return URI.create("http://127.0.0.1:" + port);
    }

    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(5, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
