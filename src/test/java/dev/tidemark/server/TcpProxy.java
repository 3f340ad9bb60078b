package dev.tidemark.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** A proxy on a free port of loopback; each connection is served on threads of its own. */
abstract class TcpProxy implements AutoCloseable {
    private final ServerSocket listener;

    /** What a thread does until its side of a connection ends. */
    interface Step {
        void run() throws IOException, InterruptedException;
    }

    TcpProxy() throws IOException {
        listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    }

    /** Port on loopback that connections are passed on to now. */
    abstract int target();

    /** Serves a connection; both sockets are closed when it returns. */
    abstract void serve(Socket client, Socket server) throws IOException, InterruptedException;

    /** Begins to take connections. */
    final void start() {
        run(this::accept);
    }

    final int port() {
        return listener.getLocalPort();
    }

    /** Runs a step on a thread of its own. */
    static void run(Step step) {
        Thread thread = new Thread(
                () -> {
                    try {
                        step.run();
                    } catch (IOException closed) {
                        // One side is gone; the other one is closed by its own thread.
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                },
                "tcp-proxy");
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() throws IOException {
        while (!listener.isClosed()) {
            Socket client = listener.accept();
            run(() -> {
                try (client;
                        Socket server = new Socket(InetAddress.getLoopbackAddress(), target())) {
                    client.setTcpNoDelay(true);
                    server.setTcpNoDelay(true);
                    serve(client, server);
                }
            });
        }
    }

    @Override
    public void close() {
        try {
            listener.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
