package dev.tidemark.keeper;

import java.util.concurrent.atomic.LongAdder;

/** What one keeper has done since the start. Written on its event loop, read by any thread. */
final class KeeperCounters {
    final LongAdder lateRescued = new LongAdder();
    final LongAdder timesRefused = new LongAdder();
    final LongAdder quarantined = new LongAdder();
    final LongAdder refusedForMemory = new LongAdder();
}
