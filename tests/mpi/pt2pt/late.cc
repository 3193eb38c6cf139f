// Tests blocking sends of long messages whose receiver is late. Over TCP they may end before the receiver has
// the bytes (LANYARD_RETAIN). The sender overwrites its buffer after each send, and the receiver checks every
// element.
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "area.h"

namespace {

int rank, size;

void pause_ms(long milliseconds) {
    timespec time{0, milliseconds * 1'000'000};
    nanosleep(&time, nullptr);
}

int element(int message, int i) { return message * 1'000'003 + i; }

void fill(std::vector<int> &data, int message) {
    for (size_t i = 0; i < data.size(); ++i) data[i] = element(message, static_cast<int>(i));
}

void check_all(const std::vector<int> &data, int message) {
    size_t good = 0;
    while (good < data.size() && data[good] == element(message, static_cast<int>(good))) ++good;
    check_equal(good, data.size());
}

// Does the job use TCP alone, without settings that keep sends from ending early?
bool may_retain() {
    const char *paths = std::getenv("LANYARD_PATHS"), *check = std::getenv("LANYARD_CHECK");
    return paths && std::string(paths) == "self,tcp" && !check && size > 1;
}

// Counts the blocking sends that ended early while it exists.
class Retained {
public:
    Retained() {
        int index = -1, count = 0, provided = 0;
        MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
        check_equal(MPI_T_pvar_get_index("p2p_sends_retained", MPI_T_PVAR_CLASS_COUNTER, &index),
                    MPI_SUCCESS);
        MPI_T_pvar_session_create(&session_);
        MPI_T_pvar_handle_alloc(session_, index, nullptr, &handle_, &count);
        check_equal(MPI_T_pvar_start(session_, handle_), MPI_SUCCESS);
    }
    ~Retained() {
        MPI_T_pvar_handle_free(session_, &handle_);
        MPI_T_pvar_session_free(&session_);
        MPI_T_finalize();
    }
    Retained(const Retained &) = delete;
    Retained &operator=(const Retained &) = delete;
    bool any() {
        unsigned long long value = 0;
        check_equal(MPI_T_pvar_read(session_, handle_, &value), MPI_SUCCESS);
        return value > 0;
    }

private:
    MPI_T_pvar_session session_;
    MPI_T_pvar_handle handle_;
};

// Rank 0 sends messages of these lengths to every other rank. The others sleep first.
void late_receivers() {
    const size_t lengths[] = {60'000, 70'000, 130'000, 200'000, 262'144, 300'000};
    constexpr int messages = std::size(lengths);
    std::vector<int> data(300'000);
    if (rank == 0) {
        for (int to = 1; to < size; ++to)
            for (int i = 0; i < messages; ++i) {
                data.resize(lengths[i]);
                fill(data, to * messages + i);
                MPI_Send(data.data(), static_cast<int>(data.size()), MPI_INT, to, i, MPI_COMM_WORLD);
                std::fill(data.begin(), data.end(), -1);
            }
        return;
    }
    pause_ms(30);
    for (int i = 0; i < messages; ++i) {
        data.assign(lengths[i], 0);
        MPI_Recv(data.data(), static_cast<int>(data.size()), MPI_INT, 0, i, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        check_all(data, rank * messages + i);
        if (i == 2) pause_ms(5);
    }
}

// Each rank has posted its receive when its neighbour sends, and comes late to wait for it. The data has
// gaps.
void late_waits() {
    constexpr int count = 100'000;
    MPI_Datatype every_other;
    MPI_Type_vector(count, 1, 2, MPI_INT, &every_other);
    MPI_Type_commit(&every_other);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    std::vector<int> out(2 * count), in(count);
    for (int round = 0; round < 10; ++round) {
        MPI_Request request;
        std::fill(in.begin(), in.end(), 0);
        MPI_Irecv(in.data(), count, MPI_INT, from, 3, MPI_COMM_WORLD, &request);
        for (int i = 0; i < count; ++i) out[static_cast<size_t>(2 * i)] = element(rank + round, i);
        if ((rank + round) % 2) pause_ms(3);
        MPI_Send(out.data(), 1, every_other, to, 3, MPI_COMM_WORLD);
        std::fill(out.begin(), out.end(), -1);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check_all(in, from + round);
    }
    MPI_Type_free(&every_other);
}

}  // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    rank = rank_in(MPI_COMM_WORLD);
    size = size_of(MPI_COMM_WORLD);
    {
        Retained retained;
        late_receivers();
        if (may_retain() && rank == 0) check(retained.any(), "every send has waited for its receiver");
    }
    late_waits();
    // The receiver may still lack a message when the sender is in MPI_Finalize.
    std::vector<int> last(150'000);
    if (rank == 0 && size > 1) {
        fill(last, 77);
        MPI_Send(last.data(), static_cast<int>(last.size()), MPI_INT, size - 1, 9, MPI_COMM_WORLD);
        std::fill(last.begin(), last.end(), -1);
    } else if (rank == size - 1 && size > 1) {
        pause_ms(30);
        MPI_Recv(last.data(), static_cast<int>(last.size()), MPI_INT, 0, 9, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        check_all(last, 77);
    }
    MPI_Finalize();
}
