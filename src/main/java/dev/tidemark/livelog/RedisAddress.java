package dev.tidemark.livelog;

import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Where a Redis is and how to log in. Its text never holds the password.
 *
 * @param scheme {@code redis}, {@code rediss} (TLS) or {@code unix}
 * @param host host name or address (an IPv6 one without brackets); empty for {@code unix}
 * @param port 1 to 65535; 0 for {@code unix}
 * @param path path of the socket for {@code unix}, else empty
 * @param user user name, or null for Redis's default user
 * @param password or null
 * @param database 0 to 65535
 * @param ca PEM file of the authorities to trust for {@code rediss}, or null for those of the JDK
 */
public record RedisAddress(
        String scheme,
        String host,
        int port,
        String path,
        @Nullable String user,
        @Nullable String password,
        int database,
        @Nullable String ca) {
    public static final int DEFAULT_PORT = 6379;
    private static final Set<String> SCHEMES = Set.of("redis", "rediss", "unix");
    private static final Set<String> PARAMETERS = Set.of("db", "user", "password", "ca");
    private static final String ALLOWED =
            "; allowed are redis://[[user][:password]@]host[:port][/database], rediss:// with the same (TLS; ?ca=FILE trusts"
                    + " a PEM file), and unix:///path/to/socket[?db=N&user=U&password=P]; percent-encode special characters";

    /** @throws IllegalArgumentException if {@code url} isn't one; the message says what is allowed and holds no password */
    public static RedisAddress parse(String url) {
        URI uri = uri(url.trim());
        String scheme = uri.getScheme() == null ? "" : uri.getScheme().toLowerCase(Locale.ROOT);
        if (!SCHEMES.contains(scheme)) {
            throw wrong("its scheme is '" + scheme + "'");
        }
        Map<String, String> parameters = parameters(uri.getRawQuery());
        String[] login = login(uri.getRawUserInfo());
        String user = login[0].isEmpty() ? parameters.get("user") : login[0];
        String password = login[1].isEmpty() ? parameters.get("password") : login[1];
        String path = uri.getPath() == null ? "" : uri.getPath();
        if (scheme.equals("unix")) {
            if (!path.startsWith("/") || path.length() < 2) {
                throw wrong("the path of its socket isn't absolute");
            }
            return new RedisAddress(scheme, "", 0, path, user, password, database(parameters.get("db")), null);
        }
        String host = host(uri);
        int port = uri.getPort() == -1 ? DEFAULT_PORT : uri.getPort();
        if (port < 1 || port > 65_535) {
            throw wrong("its port is " + port);
        }
        String inPath = path.length() > 1 ? path.substring(1) : parameters.get("db");
        String ca = scheme.equals("rediss") ? parameters.get("ca") : null;
        return new RedisAddress(scheme, host, port, "", user, password, database(inPath), ca);
    }

    private static URI uri(String url) {
        try {
            return new URI(url);
        } catch (URISyntaxException e) {
            // The cause would show the password.
            throw wrong("it isn't a URL (at character " + e.getIndex() + ")");
        }
    }

    private static IllegalArgumentException wrong(String what) {
        return new IllegalArgumentException("the Redis URL can't be used: " + what + ALLOWED);
    }

    private static String host(URI uri) {
        String host = uri.getHost();
        if (host == null || host.isEmpty()) {
            throw wrong("it names no host");
        }
        return host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
    }

    private static String[] login(@Nullable String rawUserInfo) {
        if (rawUserInfo == null) {
            return new String[] {"", ""};
        }
        int colon = rawUserInfo.indexOf(':');
        return colon < 0
                ? new String[] {decoded(rawUserInfo), ""}
                : new String[] {decoded(rawUserInfo.substring(0, colon)), decoded(rawUserInfo.substring(colon + 1))};
    }

    private static Map<String, String> parameters(@Nullable String rawQuery) {
        Map<String, String> parameters = new HashMap<>();
        for (String part : rawQuery == null ? new String[0] : rawQuery.split("&", -1)) {
            int equals = part.indexOf('=');
            String name = equals < 0 ? part : part.substring(0, equals);
            if (equals < 0 || !PARAMETERS.contains(name)) {
                throw wrong("it has a parameter '" + name + "'");
            }
            parameters.put(name, decoded(part.substring(equals + 1)));
        }
        return parameters;
    }

    private static String decoded(String raw) {
        return URLDecoder.decode(raw.replace("+", "%2B"), StandardCharsets.UTF_8);
    }

    private static int database(@Nullable String text) {
        if (text == null) {
            return 0;
        }
        if (!text.matches("\\d{1,5}") || Integer.parseInt(text) > 65_535) {
            throw wrong("its database isn't a number from 0 to 65535");
        }
        return Integer.parseInt(text);
    }

    public boolean isUnix() {
        return scheme.equals("unix");
    }

    public boolean isTls() {
        return scheme.equals("rediss");
    }

    /** As the Redis client takes it; without user and password. */
    String connectionString() {
        try {
            return isUnix()
                    ? new URI("unix", "", path, "db=" + database, null).toString()
                    : new URI(scheme, null, host, port, "/" + database, null, null).toString();
        } catch (URISyntaxException e) {
            throw new IllegalStateException("was checked before", e);
        }
    }

    /** Where it is, without user and password. */
    @Override
    public String toString() {
        return isUnix()
                ? "unix://" + path
                : scheme + "://" + (host.contains(":") ? "[" + host + "]" : host) + ":" + port
                        + (database == 0 ? "" : "/" + database);
    }
}
