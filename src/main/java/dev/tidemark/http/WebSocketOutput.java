package dev.tidemark.http;

import dev.tidemark.event.Clock;
import dev.tidemark.event.Cursor;
import dev.tidemark.event.Slice;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.handler.codec.compression.DecompressionException;
import io.netty.handler.codec.http.websocketx.CorruptedWebSocketFrameException;
import io.netty.handler.codec.http.websocketx.WebSocketCloseStatus;
import io.netty.handler.codec.http.websocketx.extensions.WebSocketExtensionDecoder;
import io.netty.util.ReferenceCountUtil;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.ServerWebSocket;
import io.vertx.core.internal.http.WebSocketInternal;
import java.util.List;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A follower's WebSocket. Text frames are encoded by us and go to the channel as bytes: the frames of many events are one write, and
 * followers share them. Vert.x does everything else: handshake, decoding, pings, close.
 *
 * <p>Memory: what the client hasn't taken waits in the channel; {@link #writable} turns false above the configured bound. A peer that
 * doesn't answer a ping in time is cut off. While something waits for it a ping can't reach it: then it is cut off when its machine
 * answers nothing ({@link TcpPulse}), or when it takes nothing of what waits for long.
 */
final class WebSocketOutput implements FollowOutput {
    private static final int REASON_BYTES_MAX = 123;
    /**
     * Size of the operating system's send buffer: what a slow client doesn't take shall wait with us, where it is bounded and seen, and
     * not by megabytes in the kernel, in front of every ping.
     */
    private static final int SEND_BUFFER_BYTES = 128 << 10;

    private final ServerWebSocket socket;
    private final ChannelHandlerContext channel;
    private final SharedEncoding shared;
    private final boolean batch;
    private final HttpOptions options;
    private final Clock clock;

    private Runnable drained = () -> {};
    private IntConsumer malformed = code -> {};
    private final TcpPulse pulse;
    private long lastWriteNs;
    private long written;
    private boolean compressed;
    private boolean begun;
    private boolean closing;
    private long closingNs;
    private long killAtNs;
    private long closingWaiting;
    private long pingedNs;
    private boolean pongDue;
    private long taken;
    private long takenNs;

    WebSocketOutput(ServerWebSocket socket, SharedEncoding shared, boolean batch, HttpOptions options, Clock clock) {
        this.socket = socket;
        this.shared = shared;
        this.batch = batch;
        this.options = options;
        this.clock = clock;
        channel = ((WebSocketInternal) socket).channelHandlerContext();
        lastWriteNs = clock.monotonicNs();
        pingedNs = lastWriteNs;
        pulse = TcpPulse.of(channel.channel(), options.timeouts(), lastWriteNs);
        channel.channel().config().setOption(ChannelOption.SO_SNDBUF, SEND_BUFFER_BYTES);
        socket.setWriteQueueMaxSize(options.subscriberBufferBytes());
        socket.pongHandler(pong -> pongDue = false);
        channel.pipeline().addBefore(channel.name(), "tidemark", new Watch());
    }

    /** Sees what Vert.x doesn't tell: when the socket can take more, and frames that break the protocol. */
    private final class Watch extends ChannelInboundHandlerAdapter {
        private boolean corrupted;

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext context) {
            context.fireChannelWritabilityChanged();
            if (context.channel().isWritable()) {
                drained.run();
            }
        }

        /** Vert.x would cut the connection at once: with bytes unread, the client would never see why. */
        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            if (cause instanceof CorruptedWebSocketFrameException frame) {
                corrupted = true;
                malformed.accept(frame.closeStatus().code());
            } else if (cause instanceof DecompressionException) {
                corrupted = true;
                malformed.accept(WebSocketCloseStatus.MESSAGE_TOO_BIG.code());
            } else {
                context.fireExceptionCaught(cause);
            }
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            if (corrupted) {
                ReferenceCountUtil.release(message);
            } else {
                context.fireChannelRead(message);
            }
        }
    }

    /** Told the close code that a frame which breaks the protocol asks for; nothing can be read any more. */
    void onMalformed(IntConsumer then) {
        malformed = then;
    }

    /** Runs whenever the socket can take more after it couldn't. */
    void onDrained(Runnable then) {
        drained = then;
    }

    @Override
    public void events(List<Slice> events) {
        if (!begun) {
            begun = true;
            compressed =
                    options.webSocketCompression() && channel.pipeline().get(WebSocketExtensionDecoder.class) != null;
        }
        write(shared.frames(events, batch, compressed, channel.alloc()));
    }

    @Override
    public void message(String type, JsonOut message, @Nullable Cursor cursor) {
        text(message);
    }

    private void text(JsonOut message) {
        ByteBuf frame = channel.alloc().directBuffer((int) WebSocketFrames.bytes(message.length()));
        WebSocketFrames.writeTextHead(frame, message.length());
        write(frame.writeBytes(message.array(), 0, message.length()));
    }

    private void write(ByteBuf frames) {
        if (closing) {
            frames.release();
            return;
        }
        lastWriteNs = clock.monotonicNs();
        written += frames.readableBytes();
        var unused = channel.writeAndFlush(frames);
    }

    @Override
    public boolean writable() {
        return channel.channel().isWritable();
    }

    @Override
    public long lastWriteNs() {
        return lastWriteNs;
    }

    @Override
    public void fail(ProblemJson problem, @Nullable Cursor cursor) {
        text(problem.message(cursor));
        close(problem.closeCode(), problem.detail());
    }

    @Override
    public void failForNow(ProblemJson problem) {
        fail(problem, null);
    }

    /** Tells what is wrong with a message of the client; the socket stays. */
    void complain(ProblemJson problem) {
        text(problem.message(null));
    }

    /** Sends a close frame; the client is cut off if it doesn't close too, but has the time to take what waits before the frame. */
    void close(short code, String reason) {
        if (closing) {
            return;
        }
        closing = true;
        closingNs = clock.monotonicNs();
        closingWaiting = Long.MAX_VALUE;
        if (!socket.isClosed()) {
            socket.close(code, fit(reason));
        }
    }

    /** A reason fits into a control frame. */
    private static String fit(String reason) {
        Buffer utf8 = Buffer.buffer(reason);
        if (utf8.length() <= REASON_BYTES_MAX) {
            return reason;
        }
        int end = REASON_BYTES_MAX - 3;
        while (end > 0 && (utf8.getByte(end) & 0xc0) == 0x80) {
            end--;
        }
        return utf8.getString(0, end) + "...";
    }

    /** Looks at the deadlines of ping and close. */
    void tick(long nowNs) {
        if (closing) {
            tickClosing(nowNs);
            return;
        }
        HttpOptions.Timeouts timeouts = options.timeouts();
        if (pulse.isLost(nowNs)) {
            kill();
            return;
        }
        long waiting = waitingBytes();
        if (waiting == 0 || written - waiting != taken) {
            taken = written - waiting;
            takenNs = nowNs;
        }
        if (waiting > 0) {
            pingedNs = nowNs;
            if (nowNs - takenNs >= timeouts.stallMs() * 1_000_000) {
                kill();
            }
        } else if (pongDue && nowNs - pingedNs >= timeouts.pongMs() * 1_000_000) {
            kill();
        } else if (!pongDue && nowNs - pingedNs >= timeouts.pingMs() * 1_000_000) {
            pingedNs = nowNs;
            pongDue = true;
            socket.writePing(Buffer.buffer("tidemark"));
        }
    }

    private void tickClosing(long nowNs) {
        HttpOptions.Timeouts timeouts = options.timeouts();
        long waiting = waitingBytes();
        if (waiting < closingWaiting) {
            closingWaiting = waiting;
            killAtNs = nowNs + timeouts.closeMs() * 1_000_000;
        }
        if (nowNs - killAtNs >= 0 || nowNs - closingNs >= timeouts.closeMsMax() * 1_000_000) {
            kill();
        }
    }

    /** Bytes that the client hasn't taken yet, beyond what the operating system holds. */
    long waitingBytes() {
        Channel real = channel.channel();
        var mark = real.config().getWriteBufferWaterMark();
        return real.isWritable() ? mark.high() - real.bytesBeforeUnwritable() : mark.low() + real.bytesBeforeWritable();
    }

    /** Cuts the connection, without a word: the time for words is over. */
    void kill() {
        closing = true;
        var unused = channel.close();
    }
}
