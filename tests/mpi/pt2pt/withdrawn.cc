// Cancels receives while their messages arrive, in all protocols. Each receive must either be cancelled, and
// then the message matches the next receive, or complete with the right data. A cancelled receive must have
// written nothing.
#include <memory>
#include <random>

#include "area.h"
#include "sim/seeds.h"

namespace {

int rank, size, to, from;
uint64_t seed;
std::mt19937_64 own, script;  // all ranks draw the same numbers from `script`

void tell_seed() {
    auto number = static_cast<unsigned long long>(seed);
    std::fprintf(stderr, "seed %llu: LANYARD_TEST_SEED=%llu repeats it\n", number, number);
}

bool was_cancelled(const MPI_Status &status) {
    int flag = -1;
    MPI_Test_cancelled(&status, &flag);
    check(flag == 0 || flag == 1, "MPI_Test_cancelled sets no flag");
    return flag == 1;
}

// Waits for a random time up to `seconds`, often not at all. Calls the library meanwhile, or does not.
void linger(double seconds) {
    if (own() % 3 == 0) return;
    bool calls = own() % 2 == 0;
    double end = MPI_Wtime() + seconds * static_cast<double>(own() % 1000) / 1000;
    int flag;
    while (MPI_Wtime() < end)
        if (calls) MPI_Iprobe(rank, 998, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

MPI_Request send(Area &area, int tag) {
    MPI_Request request;
    auto *function = own() % 3 == 0 ? MPI_Issend : MPI_Isend;
    function(area.data(), area.count(), area.type(), to, tag, MPI_COMM_WORLD, &request);
    return request;
}

MPI_Request receive(Area &area, int tag) {
    MPI_Request request;
    area.clear();
    MPI_Irecv(area.data(), area.count(), area.type(), own() % 3 == 0 ? MPI_ANY_SOURCE : from, tag,
              MPI_COMM_WORLD, &request);
    return request;
}

// Completes a receive for which MPI_Cancel was called. Returns whether the cancellation succeeded.
bool ends_cancelled(MPI_Request &request, Area &area, unsigned content, int tag) {
    MPI_Status status;
    int flag = 0;
    if (own() % 2) MPI_Wait(&request, &status);
    else while (!flag) MPI_Test(&request, &flag, &status);
    if (was_cancelled(status)) {
        area.verify_untouched();
        return true;
    }
    check_status(status, from, tag, static_cast<MPI_Count>(area.bytes()));
    area.verify(content);
    return false;
}

enum class When { racing, before, after };  // when to cancel, relative to the message

// Sends one message and posts two receives. The second receive gets the message if the first does not.
bool one(size_t bytes, When when, unsigned content) {
    bool strided = script() % 2, second_waits = script() % 2;
    int tag = static_cast<int>(content % 900);
    Area out(bytes, strided), first_in(bytes, own() % 2), second_in(bytes, own() % 2);
    out.fill(content);
    MPI_Request sending, second = MPI_REQUEST_NULL, first = receive(first_in, tag);
    if (second_waits) second = receive(second_in, tag);
    // the receive is posted, so the message will not have to wait for it
    if (when != When::before) tell_and_hear(from, to);
    if (when != When::before) sending = send(out, tag);
    if (when == When::after) tell_and_hear(to, from);  // the message has arrived
    if (when == When::racing) linger(100e-6 + static_cast<double>(bytes) * 0.5e-9);
    MPI_Cancel(&first);
    if (when == When::before) {
        tell_and_hear(from, to);
        sending = send(out, tag);
    }
    bool cancelled = ends_cancelled(first, first_in, content, tag);
    check(when == When::racing || cancelled == (when == When::before),
          cancelled ? "a receive that had its message was cancelled"
                    : "a receive whose message was not sent yet is not cancelled");
    if (cancelled && !second_waits) second = receive(second_in, tag);
    if (!cancelled && second_waits) {
        MPI_Cancel(&second);
        check(ends_cancelled(second, second_in, content, tag), "one message was received twice");
    }
    if (cancelled)
        check(!ends_cancelled(second, second_in, content, tag),
              "a receive is cancelled that nobody cancelled");
    if (cancelled) first_in.verify_untouched();
    MPI_Wait(&sending, MPI_STATUS_IGNORE);
    return cancelled;
}

// Sends several messages with one tag, and cancels some of several receives. The receives that are not
// cancelled must get the messages in order, and the remaining messages must match later receives.
void several(size_t bytes, unsigned content) {
    constexpr size_t count = 6;
    std::vector<std::unique_ptr<Area>> out, in;
    std::vector<MPI_Request> sends, receives;
    int tag = static_cast<int>(content % 900);
    for (size_t i = 0; i < count; ++i) {
        out.push_back(std::make_unique<Area>(bytes, own() % 3 == 0));
        in.push_back(std::make_unique<Area>(bytes, own() % 3 == 0));
        out[i]->fill(content + static_cast<unsigned>(i));
        if (own() % 4) receives.push_back(receive(*in.back(), tag));
        else in.pop_back();
    }
    tell_and_hear(from, to);
    for (size_t i = 0; i < count; ++i) {
        sends.push_back(send(*out[i], tag));
        size_t victim = own() % count;
        linger(30e-6);
        if (victim < receives.size()) MPI_Cancel(&receives[victim]);  // perhaps for a second time
    }
    unsigned next = content;
    size_t posted = receives.size();
    for (size_t i = 0; i < posted; ++i)
        if (!ends_cancelled(receives[i], *in[i], next, tag)) ++next;
    while (next < content + count) {
        Area later(bytes, false);
        MPI_Request request = receive(later, tag);
        check(!ends_cancelled(request, later, next++, tag), "a receive is cancelled that nobody cancelled");
    }
    MPI_Waitall(static_cast<int>(count), sends.data(), MPI_STATUSES_IGNORE);
}

}  // namespace

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    rank = rank_in(MPI_COMM_WORLD);
    size = size_of(MPI_COMM_WORLD);
    to = (rank + 1) % size, from = (rank + size - 1) % size;
    on_failure = tell_seed;
    double end = MPI_Wtime() + lanyard::sim::test_seconds() / 10;
    int go_on = 1, raced = 0, cancelled = 0;
    unsigned content = 0;
    for (seed = lanyard::sim::first_seed(); go_on; ++seed) {
        script.seed(seed);
        own.seed(seed * 64 + static_cast<uint64_t>(rank));
        for (size_t bytes : {size_t{8}, size_t{8} << 10, size_t{64} << 10, size_t{1} << 20}) {
            for (When when : {When::before, When::after}) one(bytes, when, content++);
            for (int i = 0; i < 4; ++i, ++raced) cancelled += one(bytes, When::racing, content++);
            several(bytes, content);
            content += 10;
        }
        go_on = MPI_Wtime() < end;
        MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    std::printf("rank %d: of %d receives that raced with their messages %d were cancelled\n", rank, raced,
                cancelled);
    MPI_Finalize();
}
