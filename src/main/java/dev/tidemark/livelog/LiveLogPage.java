package dev.tidemark.livelog;

import dev.tidemark.event.Event;
import dev.tidemark.event.Position;
import java.util.List;

/**
 * Entries of one range call, in the order that was asked for.
 *
 * @param events the keeper's own
 * @param foreign how many entries were passed over because they aren't the keeper's (no ordinal, or not readable as an event)
 * @param last entry id of the last entry looked at, foreign ones included; where the next page goes on. The start of the range if
 *     there was none
 * @param full whether as many entries came as were asked for, so that there may be more
 */
public record LiveLogPage(List<Event> events, int foreign, Position last, boolean full) {}
