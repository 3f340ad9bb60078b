package dev.tidemark.http;

import dev.tidemark.event.Problem;
import dev.tidemark.event.Problem.Kind;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which {@code Host} and {@code Origin} headers the server answers: what keeps other web pages, and names that an attacker lets point
 * to this machine, away from it. Names are compared whole, never by containment. Immutable.
 */
final class OriginCheck {
    private static final Set<String> ANY_ADDRESS = Set.of("0.0.0.0", "::", "0:0:0:0:0:0:0:0");

    private final String listenHost;
    private final boolean listensEverywhere;
    private final List<Authority> hosts = new ArrayList<>();
    private final Set<String> allowedOrigins = new HashSet<>();

    /** @throws IllegalArgumentException naming an entry of {@code hosts} or {@code allowedOrigins} that is none */
    OriginCheck(String listenHost, List<String> hosts, List<String> allowedOrigins) {
        this.listenHost = listenHost.toLowerCase(Locale.ROOT);
        listensEverywhere = ANY_ADDRESS.contains(listenHost);
        for (String host : hosts) {
            Authority authority = Authority.parseOrNull(host);
            if (authority == null) {
                throw new IllegalArgumentException("http.hosts: '" + host + "' isn't a host or host:port");
            }
            this.hosts.add(authority);
        }
        for (String origin : allowedOrigins) {
            String normal = normalOriginOrNull(origin);
            if (normal == null) {
                throw new IllegalArgumentException(
                        "http.allowed_origins: '" + origin + "' isn't scheme://host or scheme://host:port");
            }
            this.allowedOrigins.add(normal);
        }
    }

    /**
     * Checks the host that a request was sent to.
     *
     * @param written the {@code Host} header or the authority of an absolute target
     * @param localAddress the address that the connection came in on
     * @throws Problem forbidden, or bad request if it is malformed
     */
    void checkHost(String written, String localAddress) {
        Authority authority = Authority.parseOrNull(written);
        if (authority == null) {
            throw Problem.badRequest("the Host '" + Problem.quote(written) + "' is malformed");
        }
        if (!isOurs(authority, localAddress)) {
            throw new Problem(
                    Kind.FORBIDDEN,
                    "the Host '" + Problem.quote(written)
                            + "' isn't this server's; allowed are loopback names, the listen"
                            + " address and http.hosts");
        }
    }

    private boolean isOurs(Authority authority, String localAddress) {
        String name = authority.host();
        if (Authority.isLoopback(name) || (!listensEverywhere && name.equals(listenHost))) {
            return true;
        }
        if (listensEverywhere && name.equals(localAddress.toLowerCase(Locale.ROOT))) {
            return true;
        }
        for (Authority host : hosts) {
            if (host.host().equals(name) && (host.port() < 0 || host.port() == authority.port())) {
                return true;
            }
        }
        return false;
    }

    /**
     * Checks the origin of the page that made the request.
     *
     * @param origin the {@code Origin} header
     * @param host the {@code Host} that {@link #checkHost} let pass; null if the request had none
     * @param scheme of this connection, {@code http} or {@code https}
     * @return whether it is another origin, one of those allowed, to which CORS headers are due
     * @throws Problem forbidden
     */
    boolean checkOrigin(String origin, @Nullable String host, String scheme) {
        String normal = normalOriginOrNull(origin);
        if (normal != null && host != null && normal.equals(normalOriginOrNull(scheme + "://" + host))) {
            return false;
        }
        if (normal == null || !allowedOrigins.contains(normal)) {
            throw new Problem(
                    Kind.FORBIDDEN,
                    "the Origin '" + Problem.quote(origin)
                            + "' is foreign; http.allowed_origins lists those that may come");
        }
        return true;
    }

    /** Scheme, host and port in one form, the default port left out; null if it is no origin. */
    private static @Nullable String normalOriginOrNull(String origin) {
        int end = origin.indexOf("://");
        if (end < 0) {
            return null;
        }
        String scheme = origin.substring(0, end).toLowerCase(Locale.ROOT);
        Authority authority = Authority.parseOrNull(origin.substring(end + 3));
        if (authority == null || !scheme.matches("[a-z][a-z0-9+.-]*")) {
            return null;
        }
        int defaultPort = scheme.equals("http") ? 80 : scheme.equals("https") ? 443 : -1;
        int port = authority.port();
        return scheme + "://" + authority.host() + (port < 0 || port == defaultPort ? "" : ":" + port);
    }
}
