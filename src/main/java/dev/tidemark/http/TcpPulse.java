package dev.tidemark.http;

import io.netty.channel.Channel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.epoll.EpollTcpInfo;
import java.util.function.BooleanSupplier;

/**
 * Whether the machine at the other end of a connection still answers, as the operating system sees it. A peer that is there but takes
 * nothing answers what probes it; one that is gone, or cut off, doesn't, and neither pings nor writes would show it for long: a write
 * only fails after many minutes, and a ping waits behind what was written before.
 *
 * <p>Without the native transport nothing is known, and the peer counts as there.
 */
final class TcpPulse {
    private final BooleanSupplier unanswered;
    private final long lookNs;
    private final long lostNs;

    private long lookedNs;
    private boolean silent;
    private long silentSinceNs;

    /**
     * @param unanswered whether something that was sent to the peer, more than once, has no answer yet
     * @param lookMs time between two looks
     * @param lostMs a peer that answered nothing for so long is lost
     */
    TcpPulse(BooleanSupplier unanswered, long lookMs, long lostMs, long nowNs) {
        this.unanswered = unanswered;
        lookNs = lookMs * 1_000_000;
        lostNs = lostMs * 1_000_000;
        lookedNs = nowNs;
    }

    static TcpPulse of(Channel channel, HttpOptions.Timeouts timeouts, long nowNs) {
        return new TcpPulse(unanswered(channel), Math.max(1, timeouts.pingMs() / 8), timeouts.pongMs(), nowNs);
    }

    private static BooleanSupplier unanswered(Channel channel) {
        if (!(channel instanceof EpollSocketChannel socket)) {
            return () -> false;
        }
        EpollTcpInfo info = new EpollTcpInfo();
        return () -> {
            if (!socket.isOpen()) {
                return false;
            }
            EpollTcpInfo now = socket.tcpInfo(info);
            return now.retransmits() > 0 || now.probes() > 0;
        };
    }

    /** Looks if it is time to; whether the peer has answered nothing for too long. */
    boolean isLost(long nowNs) {
        if (nowNs - lookedNs < lookNs) {
            return false;
        }
        lookedNs = nowNs;
        boolean before = silent;
        silent = unanswered.getAsBoolean();
        if (silent && !before) {
            silentSinceNs = nowNs;
        }
        return silent && nowNs - silentSinceNs >= lostNs;
    }
}
