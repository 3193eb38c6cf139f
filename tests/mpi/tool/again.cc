// Tests a counter in a part of the library that ends and begins again: the counter must continue. Here the
// part is the helper thread, which begins again when MPI is used after MPI_Finalize.
#include <time.h>

#include "../sessions/session.h"
#include "tool.h"

namespace {

// The helper wakes every 10 ms here (LANYARD_DGRAM_PROGRESS=thread).
unsigned long long wait_for_more(const Reading<> &wakes, unsigned long long before) {
    constexpr int most_looks = 30'000;
    const timespec one_ms{0, 1'000'000};
    unsigned long long now = wakes.value();
    for (int i = 0; i < most_looks && now <= before; ++i) {
        nanosleep(&one_ms, nullptr);
        now = wakes.value();
    }
    check(now > before, "the helper does not wake");
    return now;
}

}  // namespace

int main(int argc, char **argv) {
    ToolUse use;
    Reading<> wakes("engine_helper_wakes");
    check_equal(wakes.value(), 0ull);
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    unsigned long long seen = wait_for_more(wakes, 0);
    MPI_Finalize();
    unsigned long long at_end = wakes.value();
    check(at_end >= seen, "the count went back when MPI was finalised");
    MPI_Session session = begin();
    check(wakes.value() >= at_end, "the count went back when MPI was used again");
    wait_for_more(wakes, at_end);
    end(session);
    return 0;
}
