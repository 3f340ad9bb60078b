package dev.tidemark.http;

import dev.tidemark.event.Slice;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The lists of events that were encoded last on this event loop: followers that get the same list object share its bytes, in each form.
 * Several lists, because rounds of several streams take turns, and some followers of a stream stand a little behind the others. One
 * event loop owns it.
 */
final class SharedEncoding {
    private static final int KEPT_MAX = 8;
    private static final long KEPT_BYTES_MAX = 4 << 20;

    private enum Form {
        FRAMES,
        BATCHES,
        COMPRESSED_FRAMES,
        COMPRESSED_BATCHES
    }

    private final FollowFigures figures;
    private final DeflatedFrames deflated = new DeflatedFrames();
    /** What was asked for last first. */
    private final Deque<Encoded> kept = new ArrayDeque<>();

    private long keptBytes;

    SharedEncoding(FollowFigures figures) {
        this.figures = figures;
    }

    /** One list of events in the forms that it was asked for in. */
    private static final class Encoded {
        private final List<Slice> list;
        private final Map<Form, ByteBuf> frames = new EnumMap<>(Form.class);
        private @Nullable JsonOut serverSent;
        private long bytes;

        Encoded(List<Slice> list) {
            this.list = list;
        }
    }

    /**
     * The events as whole WebSocket frames. The caller owns one reference and gives it to the socket.
     *
     * @param batch several events a frame
     * @param compressed as messages of permessage-deflate
     */
    ByteBuf frames(List<Slice> events, boolean batch, boolean compressed, ByteBufAllocator allocator) {
        Encoded encoded = of(events);
        Form form = compressed
                ? batch ? Form.COMPRESSED_BATCHES : Form.COMPRESSED_FRAMES
                : batch ? Form.BATCHES : Form.FRAMES;
        ByteBuf frames = encoded.frames.get(form);
        if (frames == null) {
            Function<List<Slice>, ByteBuf> plain = batch
                    ? list -> EventWriter.batchFrames(list, allocator)
                    : list -> EventWriter.frames(list, allocator);
            frames = compressed ? deflated.of(frames(events, batch, false, allocator), allocator) : plain.apply(events);
            encoded.frames.put(form, frames);
            if (!compressed) {
                figures.encoded(EventWriter.count(events));
            }
            grow(encoded, frames.readableBytes());
        }
        return frames.retainedDuplicate();
    }

    JsonOut serverSentEvents(List<Slice> events) {
        Encoded encoded = of(events);
        JsonOut lines = encoded.serverSent;
        if (lines == null) {
            lines = EventWriter.serverSentEvents(events);
            encoded.serverSent = lines;
            figures.encoded(EventWriter.count(events));
            grow(encoded, lines.length());
        }
        return lines;
    }

    @SuppressWarnings("ReferenceEquality") // the same object is the promise of Subscriber.events
    private Encoded of(List<Slice> events) {
        for (Encoded encoded : kept) {
            if (encoded.list == events) {
                kept.remove(encoded);
                kept.addFirst(encoded);
                return encoded;
            }
        }
        Encoded encoded = new Encoded(events);
        kept.addFirst(encoded);
        return encoded;
    }

    /** What is asked for now stays, however large it is. */
    private void grow(Encoded encoded, long bytes) {
        encoded.bytes += bytes;
        keptBytes += bytes;
        while (kept.size() > 1 && (kept.size() > KEPT_MAX || keptBytes > KEPT_BYTES_MAX)) {
            release(kept.removeLast());
        }
    }

    private void release(Encoded encoded) {
        keptBytes -= encoded.bytes;
        encoded.frames.values().forEach(ByteBuf::release);
    }

    /** Lets go of what is held. */
    void clear() {
        kept.forEach(this::release);
        kept.clear();
    }

    /** Lets go of everything, for good. */
    void close() {
        clear();
        deflated.close();
    }
}
