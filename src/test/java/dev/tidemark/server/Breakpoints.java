package dev.tidemark.server;

import com.sun.jdi.Bootstrap;
import com.sun.jdi.Method;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.VMDisconnectedException;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.connect.AttachingConnector;
import com.sun.jdi.connect.Connector;
import com.sun.jdi.connect.IllegalConnectorArgumentsException;
import com.sun.jdi.event.BreakpointEvent;
import com.sun.jdi.event.Event;
import com.sun.jdi.event.EventSet;
import com.sun.jdi.request.BreakpointRequest;
import com.sun.jdi.request.EventRequest;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Breakpoints in a built server: it stands still at a {@link NamedPoint} while a fault is laid there. Nothing in the server knows of it;
 * a server that is started with {@link #ENVIRONMENT} listens for a debugger on loopback.
 */
final class Breakpoints implements AutoCloseable {
    static final Map<String, String> ENVIRONMENT =
            Map.of("JAVA_TOOL_OPTIONS", "-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=127.0.0.1:0");

    private static final Pattern LISTENING =
            Pattern.compile("Listening for transport dt_socket at address: .*?(\\d+)$");
    private static final long REACHED_MS_MAX = 30_000;

    private final VirtualMachine machine;

    private Breakpoints(VirtualMachine machine) {
        this.machine = machine;
    }

    /** What is done while the server, or the thread that came to the point, stands still. */
    interface AtPoint {
        void run() throws Exception;
    }

    static Breakpoints in(ServerProcess server) throws IOException {
        String port = server.log().stream()
                .map(LISTENING::matcher)
                .filter(Matcher::find)
                .map(found -> found.group(1))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("no debugger port: " + server.log()));
        AttachingConnector socket = Bootstrap.virtualMachineManager().attachingConnectors().stream()
                .filter(connector -> connector.name().equals("com.sun.jdi.SocketAttach"))
                .findFirst()
                .orElseThrow();
        Map<String, Connector.Argument> arguments = socket.defaultArguments();
        arguments.get("hostname").setValue("127.0.0.1");
        arguments.get("port").setValue(port);
        try {
            return new Breakpoints(socket.attach(arguments));
        } catch (IllegalConnectorArgumentsException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * Waits until the server passes a point for the n-th time from now on, and does something while it stands still there. Then it goes
     * on, if it lives.
     *
     * @param passage from 1
     */
    void at(NamedPoint point, int passage, AtPoint then) throws Exception {
        at(point, passage, EventRequest.SUSPEND_ALL, then);
    }

    /** As {@link #at}, but only the thread that comes to the point first stands still: all others go on. */
    void slow(NamedPoint point, AtPoint then) throws Exception {
        at(point, 1, EventRequest.SUSPEND_EVENT_THREAD, then);
    }

    private void at(NamedPoint point, int passage, int suspended, AtPoint then) throws Exception {
        for (Method method : methods(point)) {
            BreakpointRequest request = machine.eventRequestManager().createBreakpointRequest(method.location());
            request.setSuspendPolicy(suspended);
            request.addCountFilter(passage);
            request.enable();
        }
        EventSet reached = await(point);
        then.run();
        try {
            machine.eventRequestManager().deleteAllBreakpoints();
            reached.resume();
        } catch (VMDisconnectedException killed) {
            // That was the fault.
        }
    }

    private List<Method> methods(NamedPoint point) throws InterruptedException {
        List<ReferenceType> types = machine.classesByName(point.type());
        for (int i = 0; types.isEmpty() && i < REACHED_MS_MAX / 10; i++) {
            Thread.sleep(10);
            types = machine.classesByName(point.type());
        }
        List<Method> methods = types.stream()
                .flatMap(type -> type.methodsByName(point.method()).stream())
                .filter(method -> !method.isBridge() && !method.isAbstract())
                .toList();
        if (methods.isEmpty()) {
            throw new IllegalStateException("the server has no " + point.type() + "." + point.method());
        }
        return methods;
    }

    private EventSet await(NamedPoint point) throws InterruptedException {
        long untilNs = System.nanoTime() + REACHED_MS_MAX * 1_000_000;
        while (System.nanoTime() < untilNs) {
            EventSet events = machine.eventQueue().remove(1_000);
            if (events != null) {
                for (Event event : events) {
                    if (event instanceof BreakpointEvent) {
                        return events;
                    }
                }
                events.resume();
            }
        }
        throw new IllegalStateException("the server didn't come to " + point);
    }

    @Override
    public void close() {
        try {
            machine.dispose();
        } catch (VMDisconnectedException killed) {
            // Then there is nothing to let go of.
        }
    }
}
