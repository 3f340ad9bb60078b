package dev.tidemark.http;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.tidemark.event.EventId;
import dev.tidemark.event.Position;
import io.netty.buffer.Unpooled;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.internal.buffer.BufferInternal;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A byte array that JSON is written into, growing when it must. Whoever knows the size gives it, and nothing is copied twice. Used
 * by one thread.
 */
final class JsonOut {
    private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

    private byte[] bytes;
    private int length;

    JsonOut(int capacity) {
        bytes = new byte[capacity];
    }

    /** Begins anew, with the room that there is. */
    void clear() {
        length = 0;
    }

    int length() {
        return length;
    }

    /** Text that needs no escaping: ASCII without quotes, backslashes and control characters, or JSON itself. */
    @CanIgnoreReturnValue
    @SuppressWarnings("deprecation") // it copies the low bytes, which is what ASCII needs, without a charset's detour
    JsonOut ascii(String text) {
        room(text.length());
        text.getBytes(0, text.length(), bytes, length);
        length += text.length();
        return this;
    }

    @CanIgnoreReturnValue
    JsonOut raw(byte[] source, int from, int count) {
        room(count);
        System.arraycopy(source, from, bytes, length, count);
        length += count;
        return this;
    }

    /** As {@link #raw}, with line breaks as spaces. */
    @CanIgnoreReturnValue
    JsonOut rawOnOneLine(byte[] source, int from, int count) {
        int start = length;
        raw(source, from, count);
        for (int i = start; i < length; i++) {
            if (bytes[i] == '\n' || bytes[i] == '\r') {
                bytes[i] = ' ';
            }
        }
        return this;
    }

    /** A JSON string: quoted and escaped. */
    @CanIgnoreReturnValue
    JsonOut string(String text) {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        room(2 + 6 * utf8.length);
        bytes[length++] = '"';
        for (byte b : utf8) {
            if (b == '"' || b == '\\') {
                bytes[length++] = '\\';
                bytes[length++] = b;
            } else if (b >= 0 && b < 0x20) {
                bytes[length++] = '\\';
                bytes[length++] = 'u';
                bytes[length++] = '0';
                bytes[length++] = '0';
                bytes[length++] = HEX[b >> 4];
                bytes[length++] = HEX[b & 0xf];
            } else {
                bytes[length++] = b;
            }
        }
        bytes[length++] = '"';
        return this;
    }

    @CanIgnoreReturnValue
    JsonOut number(long number) {
        return ascii(Long.toString(number));
    }

    @CanIgnoreReturnValue
    JsonOut bool(boolean value) {
        return ascii(value ? "true" : "false");
    }

    /** The event id at a position, or null where there is none; a bound that lies between ids is the nearest id below it. */
    @CanIgnoreReturnValue
    JsonOut id(Position position) {
        if (position.ms() < EventId.EPOCH_MS) {
            return ascii("null");
        }
        Position nearest = position.ms() > EventId.LAST_MS
                ? new Position(EventId.LAST_MS, EventId.LOW_MASK)
                : new Position(position.ms(), Math.min(position.seq(), EventId.LOW_MASK));
        return ascii("\"").ascii(EventId.of(nearest).toString()).ascii("\"");
    }

    /** A value of a problem's field or of settings: text, number, truth value, null, or a list or map of these. */
    @CanIgnoreReturnValue
    JsonOut value(@Nullable Object value) {
        if (value == null) {
            return ascii("null");
        }
        if (value instanceof Number || value instanceof Boolean) {
            return ascii(value.toString());
        }
        if (value instanceof Iterable<?> many) {
            return list(many);
        }
        if (value instanceof Map<?, ?> map) {
            return object(map);
        }
        return string(value.toString());
    }

    @CanIgnoreReturnValue
    private JsonOut list(Iterable<?> values) {
        String separator = "[";
        for (Object value : values) {
            ascii(separator).value(value);
            separator = ",";
        }
        return ascii(separator.equals("[") ? "[]" : "]");
    }

    @CanIgnoreReturnValue
    private JsonOut object(Map<?, ?> map) {
        String separator = "{";
        for (Map.Entry<?, ?> entry : map.entrySet()) {
            ascii(separator).string(String.valueOf(entry.getKey())).ascii(":").value(entry.getValue());
            separator = ",";
        }
        return ascii(separator.equals("{") ? "{}" : "}");
    }

    private void room(int more) {
        long needed = (long) length + more;
        if (needed > bytes.length) {
            if (needed > Integer.MAX_VALUE - 16) {
                throw new IllegalStateException("an answer can't hold " + needed + " bytes");
            }
            bytes = Arrays.copyOf(bytes, (int) Math.max(needed, Math.min(bytes.length * 2L, Integer.MAX_VALUE - 16)));
        }
    }

    /** The backing array; the first {@link #length} bytes count. Nothing may be written into this object afterwards. */
    byte[] array() {
        return bytes;
    }

    /** What was written, not copied: nothing may be written into this object afterwards. */
    Buffer buffer() {
        return BufferInternal.buffer(Unpooled.wrappedBuffer(bytes, 0, length));
    }

    @Override
    public String toString() {
        return new String(bytes, 0, length, StandardCharsets.UTF_8);
    }
}
