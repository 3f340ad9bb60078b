package dev.tidemark.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Any number of WebSocket subscribers on one thread, so that a test can have thousands beside the server on the same machine. Payloads
 * are {@code {"n":NUMBER,"ns":SENT}}, see {@link #payload}: each member checks that numbers come without gap and repeat, and all times
 * from sending to arrival are counted together.
 */
final class Crowd implements AutoCloseable {
    /** How a member reads. */
    enum Pace {
        /** What comes, at once. */
        FAST,
        /** One message a second. */
        SLOW,
        /** Nothing, ever. */
        STALLED
    }

    private static final int BUCKET_US = 100;
    private static final int BUCKETS = 200_000;
    private static final long SECOND_NS = 1_000_000_000;
    private static final byte[] DATA = "\"data\":{\"n\":".getBytes(StandardCharsets.US_ASCII);

    private final URI url;
    private final Selector selector;
    private final Thread thread;
    private final ByteBuffer scratch = ByteBuffer.allocateDirect(256 << 10);
    private final List<Member> members = new ArrayList<>();
    private final ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final AtomicIntegerArray latencies = new AtomicIntegerArray(BUCKETS);
    private volatile boolean closed;
    private volatile @Nullable Throwable failure;

    Crowd(String url) {
        this.url = URI.create(url);
        try {
            selector = Selector.open();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        thread = new Thread(this::run, "crowd");
        thread.setDaemon(true);
        thread.start();
    }

    /** The payload that members understand, with the time of now. */
    static String payload(long number) {
        return "{\"n\":" + number + ",\"ns\":" + System.nanoTime() + "}";
    }

    /** The same, with so many bytes more. */
    static String payload(long number, int padding) {
        String payload = payload(number);
        return payload.substring(0, payload.length() - 1) + ",\"pad\":\"" + "x".repeat(padding) + "\"}";
    }

    /** Connects one more, and returns when the server has taken it as a WebSocket. */
    Member join(String stream, String query, Pace pace) {
        try {
            SocketChannel channel = SocketChannel.open();
            if (pace != Pace.FAST) {
                channel.setOption(StandardSocketOptions.SO_RCVBUF, 32 << 10);
            }
            channel.connect(new InetSocketAddress(url.getHost(), url.getPort()));
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            String request = "GET " + Api.stream(stream) + "/subscribe?" + query + " HTTP/1.1\r\nHost: "
                    + url.getAuthority() + "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                    + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n";
            channel.write(ByteBuffer.wrap(request.getBytes(StandardCharsets.US_ASCII)));
            String head = head(channel);
            if (!head.startsWith("HTTP/1.1 101 ")) {
                throw new IllegalStateException(head);
            }
            Member member = new Member(channel, pace);
            channel.configureBlocking(false);
            synchronized (members) {
                members.add(member);
            }
            onThread(() -> member.register(selector));
            return member;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String head(SocketChannel channel) throws IOException {
        StringBuilder head = new StringBuilder();
        ByteBuffer one = ByteBuffer.allocate(1);
        while (head.indexOf("\r\n\r\n") < 0) {
            one.clear();
            if (channel.read(one) < 0) {
                throw new IOException("closed after " + head);
            }
            head.append((char) one.get(0));
        }
        return head.toString();
    }

    private void onThread(Runnable task) {
        tasks.add(task);
        selector.wakeup();
    }

    List<Member> members() {
        synchronized (members) {
            return List.copyOf(members);
        }
    }

    /** Waits until all members meet a condition. */
    void await(String what, long seconds, List<Member> all, Predicate<Member> condition) {
        long untilNs = System.nanoTime() + seconds * SECOND_NS;
        while (true) {
            if (failure != null) {
                throw new IllegalStateException("the crowd's thread ended", failure);
            }
            List<Member> missing =
                    all.stream().filter(member -> !condition.test(member)).toList();
            if (missing.isEmpty()) {
                return;
            }
            if (System.nanoTime() > untilNs) {
                throw new AssertionError(
                        missing.size() + " of " + all.size() + " without " + what + ", such as " + missing.get(0));
            }
            Waiting.ms(20);
        }
    }

    /** Forgets the times counted so far. */
    void forgetLatencies() {
        for (int i = 0; i < BUCKETS; i++) {
            latencies.set(i, 0);
        }
    }

    /** The time within which that part of all events arrived, milliseconds. */
    double latencyMs(double part) {
        long all = 0;
        for (int i = 0; i < BUCKETS; i++) {
            all += latencies.get(i);
        }
        long seen = 0;
        for (int i = 0; i < BUCKETS; i++) {
            seen += latencies.get(i);
            if (seen >= all * part) {
                return (i + 1) * BUCKET_US / 1_000.0;
            }
        }
        return -1;
    }

    private void run() {
        try {
            while (!closed) {
                selector.select(100);
                for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
                    task.run();
                }
                long nowNs = System.nanoTime();
                for (SelectionKey key : selector.selectedKeys()) {
                    ((Member) key.attachment()).readable(nowNs);
                }
                selector.selectedKeys().clear();
                for (SelectionKey key : selector.keys()) {
                    ((Member) key.attachment()).slowTurn(nowNs);
                }
            }
        } catch (IOException | RuntimeException e) {
            failure = e;
        }
    }

    /** One subscriber. Its figures may be read by any thread; all else belongs to the crowd's thread. */
    final class Member {
        private final SocketChannel channel;
        private @Nullable SelectionKey key;
        private byte[] pending = new byte[2 << 10];
        private int length;
        private long slowNextNs;

        private volatile Pace pace;
        private volatile boolean greeted;
        private volatile boolean gone;
        private volatile int closeCode;
        private volatile long events;
        private volatile long last = -1;
        private volatile long wrong;
        private volatile String lastOther = "";
        private volatile int fellBehind;
        private volatile int skipped;
        private volatile int heartbeats;

        private Member(SocketChannel channel, Pace pace) {
            this.channel = channel;
            this.pace = pace;
        }

        boolean greeted() {
            return greeted;
        }

        /** Events that came. */
        long events() {
            return events;
        }

        /** Number of the last one. */
        long last() {
            return last;
        }

        /** Events that weren't the next one. */
        long wrong() {
            return wrong;
        }

        int closeCode() {
            return closeCode;
        }

        /** Whether the connection has ended. */
        boolean gone() {
            return gone;
        }

        int fellBehind() {
            return fellBehind;
        }

        /** Gaps of what it wasn't given because it was slow. */
        int skipped() {
            return skipped;
        }

        int heartbeats() {
            return heartbeats;
        }

        /** The last message that is no event. */
        String lastOther() {
            return lastOther;
        }

        /** From now on. */
        void pace(Pace next) {
            onThread(() -> {
                pace = next;
                interest(next == Pace.FAST);
                if (next == Pace.FAST) {
                    takeFrames(Integer.MAX_VALUE, System.nanoTime());
                }
            });
        }

        /** Ends the connection without a word. */
        void leave() {
            onThread(this::end);
        }

        private void register(Selector at) {
            try {
                key = channel.register(at, pace == Pace.FAST ? SelectionKey.OP_READ : 0, this);
            } catch (IOException e) {
                gone = true;
            }
        }

        private void interest(boolean read) {
            SelectionKey mine = key;
            if (mine != null && mine.isValid()) {
                mine.interestOps(read ? SelectionKey.OP_READ : 0);
            }
        }

        private void readable(long nowNs) {
            read();
            takeFrames(Integer.MAX_VALUE, nowNs);
        }

        private void slowTurn(long nowNs) {
            if (pace != Pace.SLOW || gone || nowNs < slowNextNs) {
                return;
            }
            slowNextNs = nowNs + SECOND_NS;
            if (takeFrames(1, nowNs) == 0) {
                read();
                var unused = takeFrames(1, nowNs);
            }
        }

        private void read() {
            try {
                scratch.clear();
                int count = channel.read(scratch);
                if (count < 0) {
                    end();
                    return;
                }
                scratch.flip();
                if (length + count > pending.length) {
                    pending = java.util.Arrays.copyOf(pending, Math.max(2 * pending.length, length + count));
                }
                scratch.get(pending, length, count);
                length += count;
            } catch (IOException e) {
                end();
            }
        }

        private void end() {
            gone = true;
            try {
                channel.close();
            } catch (IOException e) {
                lastOther = e.toString();
            }
        }

        private int takeFrames(int most, long nowNs) {
            int at = 0;
            int taken = 0;
            while (taken < most && length - at >= 2) {
                int size = pending[at + 1] & 0x7f;
                int head = size < 126 ? 2 : size == 126 ? 4 : 10;
                if (length - at < head) {
                    break;
                }
                if (size == 126) {
                    size = (pending[at + 2] & 0xff) << 8 | pending[at + 3] & 0xff;
                } else if (size == 127) {
                    size = ByteBuffer.wrap(pending, at + 6, 4).getInt();
                }
                if (length - at < head + size) {
                    break;
                }
                frame(pending[at] & 0xf, at + head, size, nowNs);
                at += head + size;
                taken++;
            }
            System.arraycopy(pending, at, pending, 0, length - at);
            length -= at;
            return taken;
        }

        private void frame(int opcode, int from, int size, long nowNs) {
            switch (opcode) {
                case 1 -> text(from, size, nowNs);
                case 8 -> closeCode = (pending[from] & 0xff) << 8 | pending[from + 1] & 0xff;
                case 9 -> pong(from, size);
                default -> {}
            }
            if (opcode == 8) {
                send(8, from, 2);
            }
        }

        private void pong(int from, int size) {
            send(10, from, size);
        }

        private void send(int opcode, int from, int size) {
            ByteBuffer frame = ByteBuffer.allocate(6 + size);
            frame.put((byte) (0x80 | opcode))
                    .put((byte) (0x80 | size))
                    .putInt(0)
                    .put(pending, from, size);
            try {
                channel.write(frame.flip());
            } catch (IOException e) {
                end();
            }
        }

        private void text(int from, int size, long nowNs) {
            int at = find(DATA, from, from + size);
            if (at < 0) {
                other(new String(pending, from, size, StandardCharsets.UTF_8));
                return;
            }
            at += DATA.length;
            long number = 0;
            for (; pending[at] != ','; at++) {
                number = 10 * number + pending[at] - '0';
            }
            long sentNs = 0;
            for (at += ",\"ns\":".length(); pending[at] >= '0' && pending[at] <= '9'; at++) {
                sentNs = 10 * sentNs + pending[at] - '0';
            }
            if (last >= 0 && number != last + 1) {
                wrong++;
                lastOther = number + " after " + last;
            }
            last = number;
            events++;
            if (pace == Pace.FAST) {
                long us = (nowNs - sentNs) / 1_000;
                latencies.incrementAndGet((int) Math.max(0, Math.min(BUCKETS - 1, us / BUCKET_US)));
            }
        }

        private void other(String message) {
            lastOther = message;
            greeted |= message.startsWith("{\"type\":\"hello\"");
            fellBehind += message.startsWith("{\"type\":\"fell_behind\"") ? 1 : 0;
            skipped += message.contains("\"reason\":\"skipped\"") ? 1 : 0;
            heartbeats += message.startsWith("{\"type\":\"heartbeat\"") ? 1 : 0;
        }

        private int find(byte[] what, int from, int to) {
            for (int i = from; i <= to - what.length; i++) {
                int k = 0;
                while (k < what.length && pending[i + k] == what[k]) {
                    k++;
                }
                if (k == what.length) {
                    return i;
                }
            }
            return -1;
        }

        @Override
        public String toString() {
            return pace + " member: " + events + " events, the last " + last + ", wrong " + wrong + ", close code "
                    + closeCode + (gone ? ", gone" : "") + ", last other message " + lastOther;
        }
    }

    @Override
    public void close() {
        closed = true;
        selector.wakeup();
        try {
            thread.join(10_000);
            for (Member member : members()) {
                member.channel.close();
            }
            selector.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
