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
     * unknown. Nil stands for a missing key. No more than one entry is on Lua's stack at a time. Entries of two fields, which most are, are
     * given to XADD without a table between: a tenth less of Redis's time.
     */
    static final Script APPEND = new Script("""
            local argv, key, pcall, type = ARGV, KEYS[1], redis.pcall, type
            local at, last, first = 1, #argv, true
            while at <= last do
              local count, width = tonumber(argv[at]), tonumber(argv[at + 1])
              local name1, name2 = argv[at + 2], argv[at + 3]
              local call = {'XADD', key, 'NOMKSTREAM', ''}
              for f = 1, width do
                call[3 + 2 * f] = argv[at + 1 + f]
                call[4 + 2 * f] = ''
              end
              at = at + 2 + width
              for e = 1, count do
                local reply
                if width == 2 then
                  reply = pcall('XADD', key, 'NOMKSTREAM', argv[at], name1, argv[at + 1], name2, argv[at + 2])
                else
                  call[4] = argv[at]
                  for f = 1, width do
                    call[4 + 2 * f] = argv[at + f]
                  end
                  reply = pcall(unpack(call))
                end
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

    /**
     * Length of a stream, and the ordinals of its first and last entry (empty if they have none); nil if there is no key. Payloads stay in
     * Redis.
     */
    static final Script CENSUS = new Script("""
            if redis.call('EXISTS', KEYS[1]) == 0 then return false end
            local function ordinal(entries)
              if not entries[1] then return '' end
              local fields = entries[1][2]
              for f = 1, #fields, 2 do
                if fields[f] == 'n' then return fields[f + 1] end
              end
              return ''
            end
            return {redis.call('XLEN', KEYS[1]),
              ordinal(redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 1)),
              ordinal(redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1))}
            """);

    /**
     * Moves entries of a stream to its quarantine: copied with their id, their fields as far as ARGV[2] bytes reach, then removed. The
     * quarantine keeps the newest ARGV[1]. Answers how many were there.
     */
    static final Script QUARANTINE = new Script("""
            local moved = 0
            for i = 3, #ARGV do
              local found = redis.call('XRANGE', KEYS[1], ARGV[i], ARGV[i])[1]
              if found then
                local call = {'XADD', KEYS[2], 'MAXLEN', ARGV[1], '*', 'entry', ARGV[i]}
                local room = tonumber(ARGV[2])
                for f = 1, #found[2], 2 do
                  local field, value = found[2][f], found[2][f + 1]
                  room = room - #field - #value
                  if room < 0 or f > 1000 then
                    call[#call + 1] = 'cut'
                    call[#call + 1] = tostring(#found[2] / 2)
                    break
                  end
                  call[#call + 1] = field
                  call[#call + 1] = value
                end
                redis.call(unpack(call))
                redis.call('XDEL', KEYS[1], ARGV[i])
                moved = moved + 1
              end
            end
            return moved
            """);

    /** Copies up to ARGV[3] entries from ARGV[1] to ARGV[2] to another key; answers the last one's id, nil if there was none. */
    static final Script COPY_ENTRIES = new Script("""
            local entries = redis.call('XRANGE', KEYS[1], ARGV[1], ARGV[2], 'COUNT', ARGV[3])
            for e = 1, #entries do
              redis.call('XADD', KEYS[2], entries[e][1], unpack(entries[e][2]))
            end
            return #entries > 0 and entries[#entries][1]
            """);

    /** Puts the copy, or an empty stream, in the place of a stream that has nothing above ARGV[1], at the position ARGV[2]. */
    static final Script TAKE_PLACE = new Script("""
            local newest = redis.call('XREVRANGE', KEYS[1], '+', '(' .. ARGV[1], 'COUNT', 1)
            if newest[1] then
              return redis.error_reply('TRYAGAIN others write to ' .. KEYS[1])
            end
            if redis.call('EXISTS', KEYS[2]) == 0 then
              redis.call('XGROUP', 'CREATE', KEYS[2], 'tidemark', '$', 'MKSTREAM')
              redis.call('XGROUP', 'DESTROY', KEYS[2], 'tidemark')
            end
            redis.call('RENAME', KEYS[2], KEYS[1])
            redis.call('XSETID', KEYS[1], ARGV[2])
            return 1
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
    private static final byte[] TWO = EntryCodec.ascii("2");

    private Scripts() {}

    /** {@code SCRIPT LOAD}. */
    static Request load(Script script) {
        return Request.cmd(Command.SCRIPT).arg("LOAD").arg(script.source());
    }

    /** {@code EVAL} with one key. */
    static Request eval(Script script, String key) {
        return Request.cmd(Command.EVAL).arg(script.source()).arg(ONE).arg(key);
    }

    /** {@code EVAL} with two keys. */
    static Request eval(Script script, String key, String other) {
        return Request.cmd(Command.EVAL).arg(script.source()).arg(TWO).arg(key).arg(other);
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
