package dev.tidemark.loadtest.compare;

import dev.tidemark.loadtest.Http;
import java.io.IOException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a stream's seam tells in numbers.
 *
 * @param foldLagMs age of the oldest event that isn't folded
 */
record SeamFigures(long liveEvents, long archivedEvents, long foldLagMs) {
    static SeamFigures of(Http http, String stream) throws IOException {
        return parse(
                http.expect(200, Http.get("/v1/streams/" + stream + "/seam")).text());
    }

    /** @throws IOException if a number is missing */
    static SeamFigures parse(String seam) throws IOException {
        return new SeamFigures(
                number(seam, "live_events"), number(seam, "archived_events"), number(seam, "fold_lag_ms"));
    }

    private static long number(String seam, String name) throws IOException {
        Matcher matcher = Pattern.compile("\"" + name + "\":\\s*\"?(\\d+)").matcher(seam);
        if (!matcher.find()) {
            throw new IOException("no " + name + " in " + seam);
        }
        return Long.parseLong(matcher.group(1));
    }
}
