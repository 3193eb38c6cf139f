// Sends messages of more than 2^31 elements and bytes without needing so much memory. The middle of each
// buffer is one block of memory mapped many times, and the pattern repeats with the block's length. Only the
// two ends of a buffer have memory of their own. If a length or offset is cut to 32 bits anywhere, the ends
// are therefore wrong. Needs 64-bit addresses and about 10 MiB per rank.
#include <sys/mman.h>
#include <unistd.h>

#include "area.h"

namespace {

constexpr size_t block = size_t{2} << 20;
constexpr size_t blocks = 1025;  // all blocks together have more than 2^31 bytes
constexpr size_t head = 4096, tail = 5000;
constexpr MPI_Count message = head + blocks * block + tail;

unsigned char tail_byte(size_t i, unsigned seed) {
    return static_cast<unsigned char>(i * 3 + seed * 7 + (i >> 8));
}

class Window {
public:
    Window() {
        int file = memfd_create("large", MFD_CLOEXEC);
        check(file >= 0 && ftruncate(file, block) == 0, "memory for the window");
        size_ = 4096 + blocks * block + 8192;
        void *all =
            mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        check(all != MAP_FAILED, "addresses for the window");
        base_ = static_cast<unsigned char *>(all);
        for (size_t i = 0; i < blocks; ++i)
            check(mmap(middle() + i * block, block, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
                       0) != MAP_FAILED,
                  "a block of the window");
        close(file);
    }
    ~Window() { munmap(base_, size_); }
    Window(const Window &) = delete;
    Window &operator=(const Window &) = delete;

    void *data() { return base_; }
    void fill(unsigned seed) {
        for (size_t i = 0; i < head; ++i) base_[i] = tail_byte(i, seed + 1);
        for (size_t i = 0; i < block; ++i) middle()[i] = tail_byte(i, seed + 2);
        for (size_t i = 0; i < tail; ++i) end()[i] = tail_byte(i, seed + 3);
    }
    void clear() {
        std::memset(base_, 0, head);
        std::memset(middle(), 0, block);
        std::memset(end(), 0, 8192);
    }
    void verify(unsigned seed) {
        for (size_t i = 0; i < head; ++i)
            check(base_[i] == tail_byte(i, seed + 1), "the first bytes are wrong");
        for (size_t i = 0; i < block; ++i)
            check(middle()[i] == tail_byte(i, seed + 2), "the bytes in the middle are wrong");
        for (size_t i = 0; i < tail; ++i)
            check(end()[i] == tail_byte(i, seed + 3), "the last bytes are wrong");
        check(end()[tail] == 0, "the byte behind the message was written to");
    }

private:
    unsigned char *middle() { return base_ + head; }
    unsigned char *end() { return base_ + head + blocks * block; }
    unsigned char *base_;
    size_t size_;
};

void check_large(MPI_Status &status, int source) {
    int count = 0;
    MPI_Count large = 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    check_equal(count, MPI_UNDEFINED);
    MPI_Get_count_c(&status, MPI_BYTE, &large);
    check_equal(large, message);
    MPI_Get_elements_c(&status, MPI_BYTE, &large);
    check_equal(large, message);
    check_equal(status.MPI_SOURCE, source);
}

// Sends more than 2^31 elements with the calls that take an MPI_Count.
void by_large_count(Window &window, bool sends, int other) {
    MPI_Status status;
    if (sends) {
        window.fill(1);
        MPI_Send_c(window.data(), message, MPI_BYTE, other, 1, MPI_COMM_WORLD);
        return;
    }
    window.clear();
    MPI_Probe(other, 1, MPI_COMM_WORLD, &status);
    check_large(status, other);
    MPI_Recv_c(window.data(), message, MPI_BYTE, other, 1, MPI_COMM_WORLD, &status);
    check_large(status, other);
    window.verify(1);
}

// Sends few elements of a long datatype with the calls that take an int. The receive is posted before the
// message is sent.
void by_long_type(Window &window, bool sends, int other) {
    MPI_Datatype type;
    MPI_Type_contiguous_c(message, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_Request request;
    MPI_Status status;
    if (sends) {
        window.fill(2);
        tell_and_hear(other, other);
        MPI_Isend(window.data(), 1, type, other, 2, MPI_COMM_WORLD, &request);
    } else {
        window.clear();
        MPI_Irecv(window.data(), 1, type, other, 2, MPI_COMM_WORLD, &request);
        tell_and_hear(other, other);
    }
    MPI_Wait(&request, &status);
    if (!sends) {
        check_large(status, other);
        int count = 0;
        MPI_Get_count(&status, type, &count);
        check_equal(count, 1);
        window.verify(2);
    }
    MPI_Type_free(&type);
}

// Uses counts beyond 2^31 that transfer nothing.
void empty_elements() {
    MPI_Datatype nothing;
    MPI_Type_contiguous(0, MPI_INT, &nothing);
    MPI_Type_commit(&nothing);
    MPI_Count many = (MPI_Count{1} << 33) + 1;
    MPI_Status status;
    MPI_Sendrecv_c(nullptr, many, nothing, 0, 1, nullptr, many, nothing, 0, 1, MPI_COMM_SELF, &status);
    check_status(status, 0, 1, 0);
    MPI_Send_c(&many, many, MPI_DOUBLE, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
    MPI_Type_free(&nothing);
}

}  // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank = rank_in(MPI_COMM_WORLD);
    empty_elements();
    if (rank < 2 && size_of(MPI_COMM_WORLD) > 1) {
        Window window;
        by_large_count(window, rank == 0, 1 - rank);
        by_long_type(window, rank == 1, 1 - rank);
    }
    MPI_Finalize();
}
