// Sends messages of 5 GiB in which every 8-byte word depends on its position. If a piece is stored at the
// position of another piece, the data are therefore wrong. (large.cc has the same bytes in many places and
// needs little memory.) Each of the two ranks has one buffer. The program needs 10 GiB of memory. If they are
// not available, the test is skipped.
#include <unistd.h>

#include <cstdint>

#include "comm/check.h"

namespace {

constexpr MPI_Count bytes = MPI_Count{5} << 30;
constexpr MPI_Count words = bytes / 8;
// The shape of messages with gaps, in words. Such a message has 4.7 GiB of data.
constexpr MPI_Count strip = 7680, step = 8192, strips = words / step;
constexpr uint64_t unwritten = 0xeeeeeeeeeeeeeeee;
constexpr uint64_t needed_kib = (2 * bytes + (bytes >> 2)) >> 10;

uint64_t *buffer;

uint64_t word_at(MPI_Count place, uint64_t seed) {
    return (static_cast<uint64_t>(place) + seed) * 0x9e3779b97f4a7c15 ^ seed << 56;
}

// The shape of a message: `parts` parts of `count` words each. A part begins `apart` words behind the part
// before it.
struct Shape {
    MPI_Count parts, count, apart;
};
constexpr Shape whole{1, words, words}, in_strips{strips, strip, step}, packed{1, strips * strip, words};

void clear(const Shape &shape) { std::fill_n(buffer, shape.parts * shape.apart, unwritten); }

void fill(const Shape &shape, uint64_t seed) {
    clear(shape);
    for (MPI_Count part = 0, place = 0; part < shape.parts; ++part)
        for (MPI_Count i = 0; i < shape.count; ++i) buffer[part * shape.apart + i] = word_at(place++, seed);
}

void verify(const Shape &shape, uint64_t seed) {
    for (MPI_Count part = 0, place = 0; part < shape.parts; ++part) {
        const uint64_t *from = buffer + part * shape.apart;
        for (MPI_Count i = 0; i < shape.count; ++i, ++place)
            if (from[i] != word_at(place, seed))
                check(false, "word " + std::to_string(place) + " is wrong, message " + std::to_string(seed));
        for (MPI_Count i = shape.count; i < shape.apart; ++i)
            if (from[i] != unwritten)
                check(false, "something was written behind word " + std::to_string(place - 1));
    }
}

// The count and the datatype for a message of this shape.
struct Elements {
    MPI_Count count;
    MPI_Datatype type;
    explicit Elements(const Shape &shape) : count(shape.parts * shape.count * 8), type(MPI_BYTE) {
        if (shape.parts == 1) return;
        count = 1;
        MPI_Type_vector_c(shape.parts, shape.count, shape.apart, MPI_UINT64_T, &type);
        MPI_Type_commit(&type);
    }
    ~Elements() {
        if (type != MPI_BYTE) MPI_Type_free(&type);
    }
    Elements(const Elements &) = delete;
    Elements &operator=(const Elements &) = delete;
};

// The sender waits in its send call, or waits after it, or does not call MPI for a while. In the last case
// the receiver perhaps has to copy everything itself.
enum class Sender { blocks, waits, is_away };
constexpr unsigned away_s = 5;

// Sends one message from rank `from` to the other. The receive is posted before the message is sent, or after
// a probe has found the message.
void message(int from, uint64_t seed, const Shape &out, const Shape &in, bool posted_first, Sender sender) {
    int rank = rank_in(MPI_COMM_WORLD), other = 1 - rank, tag = static_cast<int>(seed);
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank == from) {
        Elements elements(out);
        fill(out, seed);
        if (posted_first) MPI_Recv(nullptr, 0, MPI_BYTE, other, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (sender == Sender::blocks)
            MPI_Send_c(buffer, elements.count, elements.type, other, tag, MPI_COMM_WORLD);
        else MPI_Isend_c(buffer, elements.count, elements.type, other, tag, MPI_COMM_WORLD, &request);
        if (sender == Sender::is_away) sleep(away_s);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        verify(out, seed);
        return;
    }
    Elements elements(in);
    MPI_Status status;
    MPI_Count got = 0;
    clear(in);
    if (posted_first) {
        MPI_Irecv_c(buffer, elements.count, elements.type, other, tag, MPI_COMM_WORLD, &request);
        MPI_Send(nullptr, 0, MPI_BYTE, other, 99, MPI_COMM_WORLD);
        MPI_Wait(&request, &status);
    } else {
        MPI_Probe(other, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv_c(buffer, elements.count, elements.type, other, tag, MPI_COMM_WORLD, &status);
    }
    MPI_Get_elements_c(&status, elements.type, &got);
    check_equal(got, elements.type == MPI_BYTE ? elements.count : in.parts * in.count);
    verify(in, seed);
}

uint64_t free_kib() {
    unsigned long long found = 0;
    char line[200];
    std::FILE *file = std::fopen("/proc/meminfo", "r");
    while (file && std::fgets(line, sizeof line, file))
        if (std::sscanf(line, "MemAvailable: %llu kB", &found) == 1) break;
    if (file) std::fclose(file);
    return found;
}

}  // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank = rank_in(MPI_COMM_WORLD);
    uint64_t available = free_kib();
    MPI_Bcast(&available, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (available < needed_kib) {
        if (rank == 0)
            std::printf("skipped: %llu GiB of memory are free, too few\n",
                        static_cast<unsigned long long>(available >> 20));
        MPI_Finalize();
        return 77;
    }
    check_equal(size_of(MPI_COMM_WORLD), 2);
    buffer = static_cast<uint64_t *>(std::malloc(static_cast<size_t>(bytes)));
    check(buffer != nullptr, "memory for the message");
    message(0, 1, whole, whole, false, Sender::blocks);
    message(1, 2, whole, whole, true, Sender::waits);
    message(0, 3, whole, whole, true, Sender::is_away);
    message(1, 4, packed, in_strips, true, Sender::is_away);
    message(0, 5, in_strips, packed, false, Sender::waits);
    message(1, 6, in_strips, in_strips, true, Sender::waits);
    std::free(buffer);
    MPI_Finalize();
}
