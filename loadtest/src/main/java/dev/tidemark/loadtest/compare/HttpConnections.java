package dev.tidemark.loadtest.compare;

import dev.tidemark.loadtest.Http;
import dev.tidemark.loadtest.OpenLoop;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Several connections to one server; a part of them shares them with the whole. Each is for one thread at a time. */
record HttpConnections(List<Http> all) implements AutoCloseable {
    static HttpConnections open(int port, int count) throws IOException {
        HttpConnections connections = new HttpConnections(new ArrayList<>());
        try {
            for (int i = 0; i < count; i++) {
                connections.all.add(new Http(port));
            }
            return connections;
        } catch (IOException e) {
            connections.close();
            throw e;
        }
    }

    HttpConnections first(int count) {
        return new HttpConnections(all.subList(0, count));
    }

    HttpConnections last(int count) {
        return new HttpConnections(all.subList(all.size() - count, all.size()));
    }

    /** One that sends the request over each connection and insists on the status. */
    List<OpenLoop.Sender> senders(int status, byte[] request) {
        List<OpenLoop.Sender> senders = new ArrayList<>();
        for (Http http : all) {
            senders.add(startNs -> {
                Http.Answer unused = http.expect(status, request);
            });
        }
        return senders;
    }

    @Override
    public void close() throws IOException {
        for (Http http : all) {
            http.close();
        }
    }
}
