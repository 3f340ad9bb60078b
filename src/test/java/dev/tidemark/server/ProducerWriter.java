package dev.tidemark.server;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntSupplier;

/** A writer with producer headers: it sends each request until it is answered, and each must be stored exactly once. */
final class ProducerWriter extends NumberedWriter {
    private final ProducerClient client;
    private long seq;

    /** @param port asked for before each connection: it may change */
    ProducerWriter(int number, String stream, IntSupplier port, long seed, int batchMax, long pauseMs) {
        super(number, seed, batchMax, pauseMs);
        client = new ProducerClient("producer-" + number, stream, port);
    }

    @Override
    void send(long from, int count) throws InterruptedException {
        List<String> lines = new ArrayList<>();
        for (long n = from; n < from + count; n++) {
            lines.add(line(n));
        }
        client.send(seq++, String.join("\n", lines));
        acked(from, count, "", "");
    }

    @Override
    public void close() {
        super.close();
        client.drop();
    }
}
