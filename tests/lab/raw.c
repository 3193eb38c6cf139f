// Measures what bare sockets reach between two hosts of the lab. `lab check` prints these figures, and other
// figures are relative to them. check.py compiles this program and starts both ends:
//   raw serve ADDRESS                                   prints its port, then serves one connection at a time
//                                                       until it is killed
//   raw bulk ADDRESS PORT SECONDS                       one TCP stream; prints bytes a second
//   raw ping ADDRESS PORT SECONDS SIZE block|spin       prints the median round trip in microseconds
//   raw udp  ADDRESS PORT SECONDS SIZE BYTES_A_SECOND   prints datagrams sent, datagrams received, and
//                                                       payload bytes received a second
// A connection begins with one Order. In a UDP test, the client reports on the TCP connection that it has
// sent its last datagram.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { CHUNK = 1 << 18, TRIPS_MAX = 1 << 20, PEER_BUFFER = 8 << 20 };

struct Order { char kind; char spin; uint32_t size; };

static char buffer[CHUNK];

static void must(int fine, const char *what) {
    if (fine) return;
    fprintf(stderr, "raw: %s: %s\n", what, strerror(errno));
    exit(1);
}

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

static struct sockaddr_in address_of(const char *address, int port) {
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons(port)};
    must(inet_pton(AF_INET, address, &name.sin_addr) == 1, address);
    return name;
}

static int port_of(int socket) {
    struct sockaddr_in name;
    socklen_t length = sizeof name;
    must(getsockname(socket, (struct sockaddr *)&name, &length) == 0, "getsockname");
    return ntohs(name.sin_port);
}

// Reads or writes all of the data. A nonblocking socket is tried repeatedly. False at the end of the stream.
static int transfer(int socket, void *data, size_t size, int writing) {
    char *at = data;
    while (size > 0) {
        ssize_t moved = writing ? send(socket, at, size, MSG_NOSIGNAL) : recv(socket, at, size, 0);
        if (moved < 0 && (errno == EAGAIN || errno == EINTR)) continue;
        if (moved <= 0) return 0;
        at += moved;
        size -= moved;
    }
    return 1;
}

static void do_not_block(int socket) { must(fcntl(socket, F_SETFL, O_NONBLOCK) == 0, "fcntl"); }

// If two ends spun on one processor, each would wait for the time slice of the other. So each end is bound to
// its own processor.
static void spin_on(int socket, int which) {
    cpu_set_t allowed, chosen;
    CPU_ZERO(&chosen);
    must(sched_getaffinity(0, sizeof allowed, &allowed) == 0, "sched_getaffinity");
    for (int processor = 0; processor < CPU_SETSIZE; processor++)
        if (CPU_ISSET(processor, &allowed) && which-- == 0) CPU_SET(processor, &chosen);
    if (CPU_COUNT(&chosen) > 0) sched_setaffinity(0, sizeof chosen, &chosen);
    do_not_block(socket);
}

// The server's side -----------------------------------------------------------------------------------------

static void serve_bulk(int peer) {
    uint64_t bytes = 0;
    for (ssize_t got; (got = recv(peer, buffer, CHUNK, 0)) > 0;) bytes += got;
    transfer(peer, &bytes, sizeof bytes, 1);
}

static void serve_ping(int peer, struct Order order) {
    cpu_set_t before;
    sched_getaffinity(0, sizeof before, &before);
    if (order.spin) spin_on(peer, 1);
    while (transfer(peer, buffer, order.size, 0) && transfer(peer, buffer, order.size, 1)) {}
    sched_setaffinity(0, sizeof before, &before);
}

// Counts datagrams until the client says on its TCP connection that it has sent the last one, and then until
// none arrives for 50 ms.
static void serve_udp(int peer, const char *address) {
    int datagrams = socket(AF_INET, SOCK_DGRAM, 0), size = PEER_BUFFER;
    struct sockaddr_in name = address_of(address, 0);
    must(bind(datagrams, (struct sockaddr *)&name, sizeof name) == 0, "bind");
    setsockopt(datagrams, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size);
    do_not_block(datagrams);
    uint32_t port = port_of(datagrams);
    transfer(peer, &port, sizeof port, 1);
    struct pollfd ready[] = {{.fd = datagrams, .events = POLLIN}, {.fd = peer, .events = POLLIN}};
    uint64_t result[2] = {0, 0};
    double first = 0, last = 0;
    for (int over = 0; poll(ready, over ? 1 : 2, over ? 50 : -1) > 0;) {
        for (ssize_t got; (got = recv(datagrams, buffer, CHUNK, 0)) > 0; result[0]++) {
            last = now_s();
            if (result[0] == 0) first = last;
            else result[1] += got;
        }
        over |= ready[1].revents != 0;
    }
    if (last > first) result[1] /= last - first;
    transfer(peer, result, sizeof result, 1);
    // If a socket is closed with unread bytes, the kernel sends a RST. On a lossy link the RST could destroy
    // the result.
    while (recv(peer, buffer, CHUNK, 0) > 0) {}
    close(datagrams);
}

static void serve(const char *address) {
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in name = address_of(address, 0);
    must(bind(listener, (struct sockaddr *)&name, sizeof name) == 0 && listen(listener, 8) == 0, "listen");
    printf("%d\n", port_of(listener));
    fflush(stdout);
    for (;;) {
        int peer = accept(listener, NULL, NULL), on = 1;
        must(peer >= 0, "accept");
        setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        struct Order order;
        if (transfer(peer, &order, sizeof order, 0)) {
            if (order.kind == 'b') serve_bulk(peer);
            if (order.kind == 'p') serve_ping(peer, order);
            if (order.kind == 'u') serve_udp(peer, address);
        }
        close(peer);
    }
}

// The client's side -----------------------------------------------------------------------------------------

static int order_from(const char *address, int port, struct Order order) {
    int peer = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    struct sockaddr_in name = address_of(address, port);
    must(connect(peer, (struct sockaddr *)&name, sizeof name) == 0, "connect");
    setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    must(transfer(peer, &order, sizeof order, 1), "send");
    return peer;
}

static void bulk(int peer, double seconds) {
    double start = now_s();
    while (now_s() < start + seconds) must(transfer(peer, buffer, CHUNK, 1), "send");
    shutdown(peer, SHUT_WR);
    uint64_t bytes;
    must(transfer(peer, &bytes, sizeof bytes, 0), "the other end's count");
    printf("%.0f\n", bytes / (now_s() - start));
}

static int by_value(const void *left, const void *right) {
    float difference = *(const float *)left - *(const float *)right;
    return (difference > 0) - (difference < 0);
}

static void ping(int peer, double seconds, struct Order order) {
    static float trips[TRIPS_MAX];
    if (order.spin) spin_on(peer, 0);
    size_t count = 0;
    for (double start = now_s(), before = start, after; before < start + seconds && count < TRIPS_MAX;
         before = after) {
        must(transfer(peer, buffer, order.size, 1) && transfer(peer, buffer, order.size, 0), "ping");
        after = now_s();
        trips[count++] = after - before;
    }
    qsort(trips, count, sizeof *trips, by_value);
    printf("%.2f\n", trips[count / 2] * 1e6);
}

static void udp(int peer, const char *address, double seconds, uint32_t size, double bytes_a_second) {
    uint32_t port;
    must(transfer(peer, &port, sizeof port, 0), "the other end's port");
    int datagrams = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in name = address_of(address, port);
    must(connect(datagrams, (struct sockaddr *)&name, sizeof name) == 0, "connect");
    uint64_t sent = 0, result[2];
    double start = now_s();
    for (double now = start; now < start + seconds; now = now_s()) {
        if (bytes_a_second > 0 && sent * size > (now - start) * bytes_a_second) continue;
        if (send(datagrams, buffer, size, 0) >= 0) sent++;
        else must(errno == ENOBUFS || errno == ECONNREFUSED, "send");
    }
    must(transfer(peer, buffer, 1, 1) && transfer(peer, result, sizeof result, 0), "the other end's count");
    printf("%llu %llu %llu\n", (unsigned long long)sent, (unsigned long long)result[0],
           (unsigned long long)result[1]);
}

int main(int count, char **words) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (count == 3 && strcmp(words[1], "serve") == 0) serve(words[2]);
    if (count < 5) return fprintf(stderr, "raw: see the head of raw.c\n"), 2;
    double seconds = atof(words[4]);
    struct Order order = {.kind = words[1][0],
                          .size = count > 5 ? atoi(words[5]) : 1,
                          .spin = count > 6 && strcmp(words[6], "spin") == 0};
    int peer = order_from(words[2], atoi(words[3]), order);
    if (order.kind == 'b') bulk(peer, seconds);
    if (order.kind == 'p') ping(peer, seconds, order);
    if (order.kind == 'u') udp(peer, words[2], seconds, order.size, count > 6 ? atof(words[6]) : 0);
    return 0;
}
