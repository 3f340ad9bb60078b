package dev.tidemark.http;

/** What HTTP itself refuses, before any {@link dev.tidemark.event.Problem} could come up. */
enum Refusal {
    MALFORMED(400, "malformed_request", "Malformed request"),
    REQUEST_TIMEOUT(408, "request_timeout", "Request took too long"),
    URL_TOO_LONG(414, "url_too_long", "Request line too long"),
    EXPECTATION_FAILED(417, "expectation_failed", "Expectation can't be met"),
    UPGRADE_REQUIRED(426, "upgrade_required", "WebSocket upgrade required"),
    HEADERS_TOO_LARGE(431, "headers_too_large", "Header fields too large"),
    TRANSFER_CODING(501, "transfer_coding", "Transfer coding not supported");

    private final int status;
    private final String code;
    private final String title;

    Refusal(int status, String code, String title) {
        this.status = status;
        this.code = code;
        this.title = title;
    }

    int status() {
        return status;
    }

    /** Last part of the problem's {@code type}. */
    String code() {
        return code;
    }

    String title() {
        return title;
    }
}
