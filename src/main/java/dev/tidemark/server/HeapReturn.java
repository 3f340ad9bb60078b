package dev.tidemark.server;

import com.sun.management.HotSpotDiagnosticMXBean;
import com.sun.management.VMOption;
import java.lang.management.ManagementFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets an idle process give heap back to the system: by itself the JVM only does so when it collects garbage, and a server without load
 * doesn't. The collection is concurrent, and comes only when there was none for a while; it leaves at most as much free as there is in
 * use.
 */
final class HeapReturn {
    private static final String INTERVAL = "G1PeriodicGCInterval";
    private static final String FREE_PERCENT_MIN = "MinHeapFreeRatio";
    private static final String FREE_PERCENT_MAX = "MaxHeapFreeRatio";
    private static final Logger LOG = LoggerFactory.getLogger(HeapReturn.class);

    private HeapReturn() {}

    /** Sets the interval and what is left free, unless somebody did on the command line; another JVM or collector does without. */
    static void every(long ms) {
        HotSpotDiagnosticMXBean machine = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
        try {
            if (machine != null && machine.getVMOption("UseG1GC").getValue().equals("true")) {
                setDefault(machine, INTERVAL, ms);
                setDefault(machine, FREE_PERCENT_MIN, 20);
                setDefault(machine, FREE_PERCENT_MAX, 50);
            }
        } catch (IllegalArgumentException | UnsupportedOperationException unknown) {
            LOG.debug("this JVM isn't told to give heap back: {}", unknown.getMessage());
        }
    }

    private static void setDefault(HotSpotDiagnosticMXBean machine, String option, long value) {
        if (machine.getVMOption(option).getOrigin() == VMOption.Origin.DEFAULT) {
            machine.setVMOption(option, Long.toString(value));
        }
    }
}
