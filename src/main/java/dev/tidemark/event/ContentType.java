package dev.tidemark.event;

import java.util.Locale;

/** Content types of events, as far as Tidemark treats them differently. A type is kept as text, lower-cased before parameters. */
public final class ContentType {
    public static final String JSON = "application/json";

    private ContentType() {}

    /**
     * The form in which a type is stored: trimmed, type and subtype in lower case, parameters as sent; a UTF-8 charset of a JSON
     * type is left out.
     *
     * @throws Problem {@link Problem.Kind#UNSUPPORTED_TYPE} if it is no media type, is too long, or asks for a charset other than UTF-8
     */
    public static String normalize(String written) {
        String text = written.trim();
        String base = base(text);
        if (text.length() > Limits.CONTENT_TYPE_BYTES_MAX
                || !base.matches("[a-z0-9!#$&^_.+-]+/[a-z0-9!#$&^_.+-]+")
                || !isPrintableAscii(text)) {
            throw new Problem(
                    Problem.Kind.UNSUPPORTED_TYPE,
                    "'" + Problem.quote(written) + "' isn't a media type of at most " + Limits.CONTENT_TYPE_BYTES_MAX
                            + " characters");
        }
        String charset = parameter(text, "charset");
        boolean utf8 =
                charset.isEmpty() || charset.equals("utf-8") || charset.equals("utf8") || charset.equals("us-ascii");
        if (!utf8) {
            throw new Problem(
                    Problem.Kind.UNSUPPORTED_TYPE,
                    "charset '" + Problem.quote(charset) + "' isn't supported; send UTF-8");
        }
        if (isJson(base)) {
            return base;
        }
        int semicolon = text.indexOf(';');
        return semicolon < 0 ? base : base + text.substring(semicolon);
    }

    private static boolean isPrintableAscii(String text) {
        return text.chars().allMatch(c -> c >= 0x20 && c < 0x7f);
    }

    /** Type and subtype without parameters, in lower case. */
    public static String base(String type) {
        int semicolon = type.indexOf(';');
        return (semicolon < 0 ? type : type.substring(0, semicolon)).trim().toLowerCase(Locale.ROOT);
    }

    private static String parameter(String type, String name) {
        String[] parts = type.split(";", -1);
        for (int i = 1; i < parts.length; i++) {
            String part = parts[i].trim();
            int equals = part.indexOf('=');
            if (equals > 0 && part.substring(0, equals).trim().equalsIgnoreCase(name)) {
                return part.substring(equals + 1).trim().replace("\"", "").toLowerCase(Locale.ROOT);
            }
        }
        return "";
    }

    /** {@code application/json} or {@code *}{@code /*+json}: the payload stands under {@code data}. */
    public static boolean isJson(String type) {
        String base = type.equals(JSON) ? type : base(type);
        return base.equals(JSON) || base.endsWith("+json");
    }

    /** {@code text/*}: the payload stands under {@code text} if it is valid UTF-8. */
    public static boolean isText(String type) {
        return type.startsWith("text/");
    }
}
