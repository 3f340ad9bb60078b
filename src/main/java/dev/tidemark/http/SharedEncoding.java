package dev.tidemark.http;

import dev.tidemark.event.Slice;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The last list of events that was encoded on this event loop, in each form: followers that get the same list object share its bytes.
 * One event loop owns it.
 */
final class SharedEncoding {
    private final Last frames = new Last();
    private final Last batches = new Last();

    private @Nullable List<Slice> serverSentList;
    private @Nullable JsonOut serverSent;

    /** Frames of one event each. The caller owns one reference and gives it to the socket. */
    ByteBuf frames(List<Slice> events, ByteBufAllocator allocator) {
        ByteBuf encoded = frames.of(events);
        if (encoded == null) {
            encoded = frames.put(events, EventWriter.frames(events, allocator));
        }
        return encoded.retainedDuplicate();
    }

    /** Frames of several events each. The caller owns one reference and gives it to the socket. */
    ByteBuf batchFrames(List<Slice> events, ByteBufAllocator allocator) {
        ByteBuf encoded = batches.of(events);
        if (encoded == null) {
            encoded = batches.put(events, EventWriter.batchFrames(events, allocator));
        }
        return encoded.retainedDuplicate();
    }

    JsonOut serverSentEvents(List<Slice> events) {
        JsonOut encoded = serverSent;
        if (encoded == null || serverSentList != events) {
            encoded = EventWriter.serverSentEvents(events);
            serverSent = encoded;
            serverSentList = events;
        }
        return encoded;
    }

    /** Lets go of what is held. */
    void clear() {
        frames.clear();
        batches.clear();
        serverSent = null;
        serverSentList = null;
    }

    private static final class Last {
        private @Nullable List<Slice> list;
        private @Nullable ByteBuf encoded;

        @SuppressWarnings("ReferenceEquality") // the same object is the promise of Subscriber.events
        @Nullable
        ByteBuf of(List<Slice> events) {
            return list == events ? encoded : null;
        }

        ByteBuf put(List<Slice> events, ByteBuf bytes) {
            clear();
            list = events;
            encoded = bytes;
            return bytes;
        }

        void clear() {
            if (encoded != null) {
                encoded.release();
            }
            list = null;
            encoded = null;
        }
    }
}
