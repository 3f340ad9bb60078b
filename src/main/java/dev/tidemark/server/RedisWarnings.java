package dev.tidemark.server;

import dev.tidemark.keeper.KeeperGroup;
import dev.tidemark.retention.MemoryPressure;
import java.util.ArrayList;
import java.util.List;

/** What an operator should know of a Redis that works. Any thread. */
record RedisWarnings(List<String> ofStart, KeeperGroup keepers, MemoryPressure pressure) {
    List<String> now() {
        List<String> warnings = new ArrayList<>(ofStart);
        if (pressure.isOn()) {
            warnings.add(pressure.trouble());
        }
        long quarantined = keepers.quarantined();
        if (quarantined > 0) {
            warnings.add(
                    quarantined + " entries that others put into live logs were moved to their quarantine since the"
                            + " start (keys that end in :quarantine)");
        }
        return warnings;
    }
}
