package dev.tidemark.livelog;

import dev.tidemark.event.Event;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Request;
import java.util.List;

/** The Lua scripts of the live log, and how their arguments are laid out. */
final class Scripts {
    /** Redis takes 1,048,576 arguments a command. */
    static final int ARGUMENTS_MAX = 1_000_000;

    /**
     * Appends a batch, all of it or nothing. Arguments are runs of entries of one shape:
     *
     * <pre>
     *   count  width  name 1 … name width  ( entry id  value 1 … value width ) × count     … next run
     * </pre>
     *
     * The first XADD fails before anything is written; those behind it have rising ids in a stream that is there, and Redis checks
     * memory, role and disk only before a script's first write. Should one fail all the same, the answer says so, and counts as
     * unknown. Nil stands for a missing key. No more than one entry is on Lua's stack at a time.
     */
    static final Script APPEND = new Script("""
            local key, at, last, first = KEYS[1], 1, #ARGV, true
            while at <= last do
              local count, width = tonumber(ARGV[at]), tonumber(ARGV[at + 1])
              local call = {'XADD', key, 'NOMKSTREAM', ''}
              for f = 1, width do
                call[3 + 2 * f] = ARGV[at + 1 + f]
                call[4 + 2 * f] = ''
              end
              at = at + 2 + width
              for e = 1, count do
                call[4] = ARGV[at]
                for f = 1, width do
                  call[4 + 2 * f] = ARGV[at + f]
                end
                local reply = redis.pcall(unpack(call))
                if not reply then
                  if first then return false end
                  return redis.error_reply('PARTIAL the key went away')
                end
                if type(reply) == 'table' and reply.err then
                  if first then return reply end
                  return redis.error_reply('PARTIAL ' .. reply.err)
                end
                first = false
                at = at + width + 1
              end
            end
            return 1
            """);

    /**
     * Sets the id below which a stream takes no entries. {@code XSETID} alone is refused while Redis is over its memory limit, and then
     * nothing could be fenced, folded and trimmed; behind a write that Redis does allow (this trim removes nothing) it isn't.
     */
    static final Script FENCE = new Script("""
            redis.pcall('XTRIM', KEYS[1], 'MINID', '=', '0-0')
            return redis.pcall('XSETID', KEYS[1], ARGV[1])
            """);

    /** Makes an empty stream if there is no key; fails if there is one of another type. */
    static final Script CREATE = new Script("""
            redis.call('XLEN', KEYS[1])
            if redis.call('EXISTS', KEYS[1]) == 0 then
              redis.call('XGROUP', 'CREATE', KEYS[1], 'tidemark', '$', 'MKSTREAM')
              redis.call('XGROUP', 'DESTROY', KEYS[1], 'tidemark')
              return 1
            end
            return 0
            """);

    /** Removes a seam copy, unless it belongs to another generation. */
    static final Script DELETE_SEAM = new Script("""
            local seam = redis.call('GET', KEYS[1])
            if seam and string.sub(seam, -string.len(ARGV[1])) == ARGV[1] then
              return redis.call('DEL', KEYS[1])
            end
            return 0
            """);

    /** Removes a stream from the registry, unless its description names a generation and it is another one. */
    static final Script DELETE_REGISTERED = new Script("""
            local description = redis.call('HGET', KEYS[1], ARGV[1])
            if description and (string.find(description, ARGV[2], 1, true)
                or not string.find(description, '"generation"', 1, true)) then
              return redis.call('HDEL', KEYS[1], ARGV[1])
            end
            return 0
            """);

    private static final byte[] ONE = EntryCodec.ascii("1");

    private Scripts() {}

    /** {@code SCRIPT LOAD}. */
    static Request load(Script script) {
        return Request.cmd(Command.SCRIPT).arg("LOAD").arg(script.source());
    }

    /** {@code EVAL} with one key. */
    static Request eval(Script script, String key) {
        return Request.cmd(Command.EVAL).arg(script.source()).arg(ONE).arg(key);
    }

    /** How many arguments {@link #append} needs for these events. */
    static long argumentCount(List<Event> events) {
        long count = 3;
        int last = 0;
        for (Event event : events) {
            int shape = EntryCodec.shape(event);
            int width = EntryCodec.width(shape);
            count += 1 + width + (shape == last ? 0 : 2 + width);
            last = shape;
        }
        return count;
    }

    /** {@code EVALSHA} of {@link #APPEND}. */
    static Request append(byte[] key, List<Event> events) {
        Request request =
                Request.cmd(Command.EVALSHA).arg(APPEND.sha1()).arg(ONE).arg(key);
        int from = 0;
        while (from < events.size()) {
            int shape = EntryCodec.shape(events.get(from));
            int to = from + 1;
            while (to < events.size() && EntryCodec.shape(events.get(to)) == shape) {
                to++;
            }
            request.arg(Digits.of(to - from)).arg(Digits.of(EntryCodec.width(shape)));
            EntryCodec.addNames(shape, request);
            for (Event event : events.subList(from, to)) {
                EntryCodec.addValues(event, shape, request);
            }
            from = to;
        }
        return request;
    }
}
