package dev.tidemark.loadtest.compare;

/** Whose figure it is: a system, and with Redis what drove it. */
enum Side {
    TIDEMARK("Tidemark"),
    TIDEMARK_BATCHED("Tidemark, batch=true"),
    REDIS_BENCHMARK("Redis, redis-benchmark"),
    REDIS_DRIVER("Redis, our driver"),
    NATS_CLIENT("NATS JetStream, jnats"),
    NATS_ONE_CLIENT("NATS JetStream, jnats, one thread"),
    NATS_DRIVER("NATS JetStream, our driver"),
    DURABLE_STREAMS("Durable Streams (Node)"),
    KAFKA("Kafka");

    private final String title;

    Side(String title) {
        this.title = title;
    }

    String title() {
        return title;
    }
}
