package dev.tidemark.http;

import dev.tidemark.event.Problem;
import dev.tidemark.event.Utf8;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A request target, taken apart as it came: nothing is normalized, and what is percent-encoded is decoded exactly once, after the
 * path was split.
 *
 * @param path the raw path, starting with {@code /}; or {@code *}
 * @param segments what stands between the slashes, raw; empty for {@code /}
 * @param query the raw query behind {@code ?}; null if there was none
 * @param authority of a target in absolute form; null otherwise
 */
record RequestTarget(
        String path,
        List<String> segments,
        @Nullable String query,
        @Nullable String authority) {
    private static final int BYTE_MAX = 0xff;

    RequestTarget {
        segments = List.copyOf(segments);
    }

    /** @throws Problem bad request, if it is no target of a request to a server */
    static RequestTarget parse(String uri) {
        String rest = uri;
        String authority = null;
        int schemeEnd = uri.startsWith("/") ? -1 : schemeEnd(uri);
        if (schemeEnd > 0) {
            int pathStart = firstOf(uri, schemeEnd, "/?");
            authority = uri.substring(schemeEnd, pathStart);
            rest = pathStart == uri.length() || uri.charAt(pathStart) == '?'
                    ? "/" + uri.substring(pathStart)
                    : uri.substring(pathStart);
        }
        if (rest.indexOf('#') >= 0) {
            throw Problem.badRequest("a request target has no fragment; '#' in a name is written %23");
        }
        int question = rest.indexOf('?');
        String path = question < 0 ? rest : rest.substring(0, question);
        String query = question < 0 ? null : rest.substring(question + 1);
        if (!path.startsWith("/") && !path.equals("*")) {
            throw Problem.badRequest("the request target must be a path that starts with '/'");
        }
        return new RequestTarget(path, split(path), query, authority);
    }

    private static int schemeEnd(String uri) {
        for (String scheme : List.of("http://", "https://")) {
            if (uri.regionMatches(true, 0, scheme, 0, scheme.length())) {
                return scheme.length();
            }
        }
        return -1;
    }

    private static int firstOf(String text, int from, String wanted) {
        for (int i = from; i < text.length(); i++) {
            if (wanted.indexOf(text.charAt(i)) >= 0) {
                return i;
            }
        }
        return text.length();
    }

    private static List<String> split(String path) {
        if (path.equals("*")) {
            return List.of(path);
        }
        List<String> segments = new ArrayList<>(6);
        int start = 1;
        while (start < path.length() || (start == path.length() && path.length() > 1)) {
            int slash = path.indexOf('/', start);
            int end = slash < 0 ? path.length() : slash;
            segments.add(path.substring(start, end));
            start = end + 1;
        }
        return segments;
    }

    /**
     * Decodes percent-encoded UTF-8, once.
     *
     * @param what names it in an error
     * @param form whether {@code +} stands for a space, as in queries; in paths it is itself
     * @throws Problem bad request, naming {@code what}, for a malformed {@code %} or invalid UTF-8
     */
    static String decode(String raw, String what, boolean form) {
        if (isPlain(raw, form)) {
            return raw;
        }
        byte[] bytes = new byte[raw.length()];
        int length = 0;
        for (int i = 0; i < raw.length(); i++) {
            char c = raw.charAt(i);
            if (c == '%') {
                int high = hexDigit(raw, i + 1);
                int low = hexDigit(raw, i + 2);
                if (high < 0 || low < 0) {
                    throw Problem.badParameter(
                            what, "'" + Problem.quote(raw) + "' has a '%' without two hex digits behind it");
                }
                bytes[length++] = (byte) (high << 4 | low);
                i += 2;
            } else if (c > BYTE_MAX) {
                throw Problem.badParameter(what, "'" + Problem.quote(raw) + "' isn't percent-encoded UTF-8");
            } else {
                bytes[length++] = (byte) (form && c == '+' ? ' ' : c);
            }
        }
        if (!Utf8.isValid(bytes, 0, length)) {
            throw Problem.badParameter(what, "'" + Problem.quote(raw) + "' isn't percent-encoded UTF-8");
        }
        return new String(bytes, 0, length, StandardCharsets.UTF_8);
    }

    private static int hexDigit(String raw, int at) {
        return at < raw.length() && raw.charAt(at) < 0x80 ? Character.digit(raw.charAt(at), 16) : -1;
    }

    private static boolean isPlain(String raw, boolean form) {
        for (int i = 0; i < raw.length(); i++) {
            char c = raw.charAt(i);
            if (c == '%' || c >= 0x80 || (form && c == '+')) {
                return false;
            }
        }
        return true;
    }
}
