package dev.tidemark.http;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Host and port of a {@code Host} header or an origin.
 *
 * @param host lower case; an IPv6 address without its brackets
 * @param port -1 if none was given
 */
record Authority(String host, int port) {
    private static final int NAME_LENGTH_MAX = 253;

    /** Strictly {@code host}, {@code host:port}, {@code [v6]} or {@code [v6]:port}; null for anything else. */
    static @Nullable Authority parseOrNull(String written) {
        String text = written.toLowerCase(Locale.ROOT);
        int hostEnd;
        String host;
        if (text.startsWith("[")) {
            hostEnd = text.indexOf(']') + 1;
            host = hostEnd < 3 ? "" : text.substring(1, hostEnd - 1);
            if (!host.matches("[0-9a-f:.]+")) {
                return null;
            }
        } else {
            int colon = text.indexOf(':');
            hostEnd = colon < 0 ? text.length() : colon;
            host = text.substring(0, hostEnd);
            if (!isName(host)) {
                return null;
            }
        }
        if (hostEnd == text.length()) {
            return new Authority(host, -1);
        }
        int port = text.charAt(hostEnd) == ':' ? port(text.substring(hostEnd + 1)) : -1;
        return port < 0 ? null : new Authority(host, port);
    }

    private static boolean isName(String host) {
        if (host.isEmpty() || host.length() > NAME_LENGTH_MAX) {
            return false;
        }
        for (int i = 0; i < host.length(); i++) {
            char c = host.charAt(i);
            boolean allowed = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
            if (!allowed) {
                return false;
            }
        }
        return true;
    }

    private static int port(String digits) {
        if (digits.length() > 5 || !Parameters.isDigits(digits)) {
            return -1;
        }
        int port = Integer.parseInt(digits);
        return port <= 65_535 ? port : -1;
    }

    /** Whether it is this machine by name: {@code localhost}, 127.0.0.0/8 in full, or {@code ::1}. */
    static boolean isLoopback(String host) {
        if (host.equals("localhost") || host.equals("::1") || host.equals("127.0.0.1")) {
            return true;
        }
        String[] parts = host.split("\\.", -1);
        if (parts.length != 4 || !parts[0].equals("127")) {
            return false;
        }
        for (String part : parts) {
            if (part.length() > 3 || !Parameters.isDigits(part) || Integer.parseInt(part) > 255) {
                return false;
            }
        }
        return true;
    }
}
