package dev.tidemark.server;

import com.sun.management.HotSpotDiagnosticMXBean;
import com.sun.management.VMOption;
import java.lang.management.ManagementFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets an idle process give heap back to the system: by itself the JVM only does so when it collects garbage, and a server without load
 * doesn't. The collection is concurrent, and comes only when there was none for a while.
 */
final class HeapReturn {
    private static final String INTERVAL = "G1PeriodicGCInterval";
    private static final Logger LOG = LoggerFactory.getLogger(HeapReturn.class);

    private HeapReturn() {}

    /** Sets the interval, unless somebody did on the command line; another JVM or collector does without. */
    static void every(long ms) {
        try {
            HotSpotDiagnosticMXBean machine = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
            if (machine != null
                    && machine.getVMOption("UseG1GC").getValue().equals("true")
                    && machine.getVMOption(INTERVAL).getOrigin() == VMOption.Origin.DEFAULT) {
                machine.setVMOption(INTERVAL, Long.toString(ms));
            }
        } catch (IllegalArgumentException | UnsupportedOperationException unknown) {
            LOG.debug("this JVM has no {}", INTERVAL);
        }
    }
}
