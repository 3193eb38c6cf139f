// See library_counters.h.
#include "bench/programs/applications/library_counters.h"

#include <fmt/format.h>

namespace lanyard::bench {

namespace {

struct Wanted {
    const char *name, *what;
    // grows: the value at the start is subtracted from the value at the end
    bool in_bytes, adds_up, grows;
};
constexpr Wanted all_wanted[] = {
    {"shm_segment_bytes", "memory of the node that the library uses", true, false, false},
    {"p2p_unexpected_bytes_most", "memory for messages that arrived before their receives, of a rank", true,
     false, false},
    {"p2p_unexpected_stored", "messages that arrived before their receives", false, true, true},
    {"p2p_announcements_sent", "receives announced to their senders", false, true, true},
    {"p2p_announcements_used", "messages sent to announced receives", false, true, true},
    {"p2p_announcements_crossed", "announcements that arrived too late", false, true, true},
    {"p2p_bytes_written", "sent to announced receives", true, true, true},
};

}  // namespace

LibraryCounters::LibraryCounters() {
    int level = 0;
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &level) != MPI_SUCCESS) return;
    MPI_T_pvar_session_create(&session_);
    for (const Wanted& wanted : all_wanted)
        for (int type : {MPI_T_PVAR_CLASS_COUNTER, MPI_T_PVAR_CLASS_LEVEL, MPI_T_PVAR_CLASS_HIGHWATERMARK}) {
            int index = 0, count = 0;
            Counter counter{wanted.what, wanted.in_bytes, wanted.adds_up, MPI_T_PVAR_HANDLE_NULL, 0};
            if (MPI_T_pvar_get_index(wanted.name, type, &index) != MPI_SUCCESS) continue;
            if (MPI_T_pvar_handle_alloc(session_, index, nullptr, &counter.handle, &count) != MPI_SUCCESS ||
                count != 1)
                continue;
            // MPI_T_pvar_start() fails for variables that always run. This does no harm.
            MPI_T_pvar_start(session_, counter.handle);
            if (wanted.grows) counter.before = read(counter);
            counters_.push_back(counter);
        }
}

LibraryCounters::~LibraryCounters() {
    if (session_ == MPI_T_PVAR_SESSION_NULL) return;
    for (Counter& counter : counters_) MPI_T_pvar_handle_free(session_, &counter.handle);
    MPI_T_pvar_session_free(&session_);
    MPI_T_finalize();
}

double LibraryCounters::read(const Counter& counter) const {
    unsigned long long value = 0;
    return MPI_T_pvar_read(session_, counter.handle, &value) == MPI_SUCCESS ? static_cast<double>(value) : 0;
}

std::string LibraryCounters::describe() {
    std::string text;
    for (const Counter& counter : counters_) {
        double mine = read(counter) - counter.before, all = 0;
        PMPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, counter.adds_up ? MPI_SUM : MPI_MAX, MPI_COMM_WORLD);
        if (all == 0) continue;
        text +=
            fmt::format("    {}: {}\n", counter.what,
                        counter.in_bytes ? fmt::format("{:.4g} MB", all / 1e6) : fmt::format("{:.0f}", all));
    }
    return text;
}

}  // namespace lanyard::bench
