package dev.tidemark.livelog;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A TCP proxy in front of Redis. Fault model: requests are held back and delivered later, also after their client's connection is
 * gone; answers are swallowed; neither side is read any more (as if packets were dropped); connections are cut. Bytes aren't altered
 * or reordered.
 */
public final class DelayProxy implements AutoCloseable {
    private final ServerSocket listener;
    private final int target;
    private final List<Pipe> pipes = new ArrayList<>();
    private boolean holdRequests;
    private boolean swallowAnswers;
    private boolean deaf;
    private boolean refuse;

    /** One client's connection and its own connection to Redis. */
    private static final class Pipe {
        private final Socket client;
        private final Socket server;
        private final List<byte[]> held = new ArrayList<>();

        Pipe(Socket client, Socket server) {
            this.client = client;
            this.server = server;
        }
    }

    public DelayProxy(int target) throws IOException {
        this.target = target;
        this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        run(this::accept);
    }

    public int port() {
        return listener.getLocalPort();
    }

    private static void run(Runnable body) {
        Thread thread = new Thread(body, "delay-proxy");
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                Socket client = listener.accept();
                boolean refused;
                synchronized (this) {
                    refused = refuse;
                }
                if (refused) {
                    client.close();
                    continue;
                }
                Pipe pipe = new Pipe(client, new Socket(InetAddress.getLoopbackAddress(), target));
                synchronized (this) {
                    pipes.add(pipe);
                }
                run(() -> requests(pipe));
                run(() -> answers(pipe));
            } catch (IOException closed) {
                // A closed listener ends the loop; a Redis that is away cuts the client.
            }
        }
    }

    private synchronized void awaitHearing() {
        while (deaf) {
            try {
                wait();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    private void requests(Pipe pipe) {
        byte[] buffer = new byte[64 << 10];
        try {
            InputStream in = pipe.client.getInputStream();
            OutputStream out = pipe.server.getOutputStream();
            awaitHearing();
            int length = in.read(buffer);
            while (length >= 0) {
                synchronized (this) {
                    if (holdRequests) {
                        pipe.held.add(java.util.Arrays.copyOf(buffer, length));
                    } else {
                        out.write(buffer, 0, length);
                    }
                }
                awaitHearing();
                length = in.read(buffer);
            }
            closeUnlessHolding(pipe);
        } catch (IOException gone) {
            closeUnlessHolding(pipe);
        }
    }

    private synchronized void closeUnlessHolding(Pipe pipe) {
        if (pipe.held.isEmpty()) {
            close(pipe.server);
        }
        close(pipe.client);
    }

    private void answers(Pipe pipe) {
        byte[] buffer = new byte[64 << 10];
        try {
            InputStream in = pipe.server.getInputStream();
            OutputStream out = pipe.client.getOutputStream();
            int length = in.read(buffer);
            while (length >= 0) {
                boolean swallowed;
                synchronized (this) {
                    swallowed = swallowAnswers;
                }
                if (!swallowed && !pipe.client.isClosed()) {
                    out.write(buffer, 0, length);
                }
                length = in.read(buffer);
            }
            close(pipe.client);
        } catch (IOException gone) {
            close(pipe.client);
        }
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Requests stay in the proxy from now on. */
    synchronized void holdRequests() {
        holdRequests = true;
    }

    /** The requests that are held. */
    synchronized String heldText() {
        StringBuilder text = new StringBuilder();
        for (Pipe pipe : pipes) {
            pipe.held.forEach(part -> text.append(new String(part, StandardCharsets.ISO_8859_1)));
        }
        return text.toString();
    }

    /** New requests pass again; held ones stay until {@link #deliverHeld}. */
    synchronized void passRequests() {
        holdRequests = false;
    }

    /** Held requests reach Redis now, whether their client is still there or not. */
    synchronized void deliverHeld() {
        for (Pipe pipe : pipes) {
            for (byte[] part : pipe.held) {
                try {
                    pipe.server.getOutputStream().write(part);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
            pipe.held.clear();
        }
    }

    synchronized void swallowAnswers(boolean swallow) {
        swallowAnswers = swallow;
    }

    /** Requests aren't read any more, or are read again. */
    public synchronized void deaf(boolean on) {
        deaf = on;
        notifyAll();
    }

    /** Cuts all clients off. */
    public synchronized void cut() {
        pipes.forEach(pipe -> close(pipe.client));
    }

    /** Cuts all clients off, and closes new connections at once. */
    public synchronized void refuse(boolean on) {
        refuse = on;
        if (on) {
            cut();
        }
    }

    @Override
    public synchronized void close() {
        deaf = false;
        notifyAll();
        try {
            listener.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        pipes.forEach(pipe -> {
            close(pipe.client);
            close(pipe.server);
        });
    }
}
