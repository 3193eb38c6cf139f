// Tests performance variables: sessions and handles, and the operations that each class allows. The values
// must change when the events that they count happen.
#include <algorithm>
#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include "tool.h"

namespace {

using Count = unsigned long long;

int rank, size;

int most_values() { return std::max(size, 16); }  // the most values that one variable has

void walk_over_all() {
    int number = -1;
    good(MPI_T_pvar_get_num(&number));
    check(number > 30);
    std::set<std::string> names;
    MPI_T_pvar_session session;
    good(MPI_T_pvar_session_create(&session));
    for (int i = 0; i < number; ++i) {
        char name[text_room], text[text_room];
        int name_length = text_room, text_length = text_room, verbosity = 0, var_class = 0, bind = 0,
            readonly = -1, continuous = -1, atomic = -1;
        MPI_Datatype type = MPI_DATATYPE_NULL;
        MPI_T_enum enumeration = MPI_T_ENUM_NULL;
        good(MPI_T_pvar_get_info(i, name, &name_length, &verbosity, &var_class, &type, &enumeration, text,
                                 &text_length, &bind, &readonly, &continuous, &atomic));
        check(names.insert(name).second && text_length > 10, name);
        check(pvar_index(name, var_class) == i, name);
        int none = -1;
        refused(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_GENERIC, &none), MPI_T_ERR_INVALID_NAME);
        bool state = var_class == MPI_T_PVAR_CLASS_STATE, timer = var_class == MPI_T_PVAR_CLASS_TIMER;
        check(state   ? type == MPI_INT && enumeration != MPI_T_ENUM_NULL
              : timer ? type == MPI_DOUBLE
                      : type == MPI_UNSIGNED_LONG_LONG || type == MPI_UNSIGNED,
              name);
        check(readonly == continuous && atomic == !readonly, name);
        MPI_Comm comm = MPI_COMM_WORLD;
        MPI_T_pvar_handle handle;
        int count = 0;
        std::vector<double> values(static_cast<size_t>(most_values()));
        double *value = values.data();
        good(MPI_T_pvar_handle_alloc(session, i, bind == MPI_T_BIND_MPI_COMM ? &comm : nullptr, &handle,
                                     &count));
        check(count >= 1 && count <= most_values(), name);
        good(MPI_T_pvar_read(session, handle, value));
        refused(MPI_T_pvar_start(session, handle), continuous ? MPI_T_ERR_PVAR_NO_STARTSTOP : MPI_SUCCESS);
        refused(MPI_T_pvar_stop(session, handle), continuous ? MPI_T_ERR_PVAR_NO_STARTSTOP : MPI_SUCCESS);
        refused(MPI_T_pvar_reset(session, handle), readonly ? MPI_T_ERR_PVAR_NO_WRITE : MPI_SUCCESS);
        refused(MPI_T_pvar_write(session, handle, value), readonly ? MPI_T_ERR_PVAR_NO_WRITE : MPI_SUCCESS);
        refused(MPI_T_pvar_readreset(session, handle, value),
                atomic ? MPI_SUCCESS : MPI_T_ERR_PVAR_NO_ATOMIC);
        if (i % 2) good(MPI_T_pvar_handle_free(session, &handle));
    }
    good(MPI_T_pvar_session_free(&session));  // frees the handles that remain in the session too
}

void errors() {
    int number = 0, count = 0, index = pvar_index("p2p_messages_sent", MPI_T_PVAR_CLASS_COUNTER);
    Count value = 0;
    good(MPI_T_pvar_get_num(&number));
    MPI_T_pvar_session one, other, none = MPI_T_PVAR_SESSION_NULL;
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL, all = MPI_T_PVAR_ALL_HANDLES;
    good(MPI_T_pvar_session_create(&one));
    good(MPI_T_pvar_session_create(&other));
    refused(MPI_T_pvar_session_free(&none), MPI_T_ERR_INVALID_SESSION);
    for (int wrong : {-1, number}) {
        refused(MPI_T_pvar_get_info(wrong, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                    nullptr, nullptr, nullptr, nullptr, nullptr),
                MPI_T_ERR_INVALID_INDEX);
        refused(MPI_T_pvar_handle_alloc(one, wrong, nullptr, &handle, &count), MPI_T_ERR_INVALID_INDEX);
    }
    refused(MPI_T_pvar_handle_alloc(none, index, nullptr, &handle, &count), MPI_T_ERR_INVALID_SESSION);
    refused(MPI_T_pvar_handle_alloc(one, pvar_index("coll_started", MPI_T_PVAR_CLASS_COUNTER), nullptr,
                                    &handle, &count),
            MPI_T_ERR_INVALID);
    refused(MPI_T_pvar_get_index("nothing", MPI_T_PVAR_CLASS_COUNTER, &index), MPI_T_ERR_INVALID_NAME);
    refused(MPI_T_pvar_read(one, handle, &value), MPI_T_ERR_INVALID_HANDLE);
    good(MPI_T_pvar_handle_alloc(one, index, nullptr, &handle, &count));
    refused(MPI_T_pvar_read(other, handle, &value), MPI_T_ERR_INVALID_HANDLE);
    refused(MPI_T_pvar_start(other, handle), MPI_T_ERR_INVALID_HANDLE);
    refused(MPI_T_pvar_read(none, handle, &value), MPI_T_ERR_INVALID_SESSION);
    refused(MPI_T_pvar_read(one, all, &value), MPI_T_ERR_INVALID_HANDLE);
    refused(MPI_T_pvar_write(one, all, &value), MPI_T_ERR_INVALID_HANDLE);
    refused(MPI_T_pvar_readreset(one, all, &value), MPI_T_ERR_INVALID_HANDLE);
    refused(MPI_T_pvar_handle_free(one, &all), MPI_T_ERR_INVALID_HANDLE);
    for (auto *act : {MPI_T_pvar_start, MPI_T_pvar_stop, MPI_T_pvar_reset}) {
        good(act(one, MPI_T_PVAR_ALL_HANDLES));
        good(act(other, MPI_T_PVAR_ALL_HANDLES));  // this session has no handles
        refused(act(none, MPI_T_PVAR_ALL_HANDLES), MPI_T_ERR_INVALID_SESSION);
    }
    MPI_T_pvar_handle freed = handle;
    good(MPI_T_pvar_handle_free(one, &handle));
    refused(MPI_T_pvar_read(one, freed, &value), MPI_T_ERR_INVALID_HANDLE);
    good(MPI_T_pvar_session_free(&one));
    good(MPI_T_pvar_session_free(&other));
}

void sessions_run_out() {
    int code = MPI_SUCCESS;
    MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
    std::vector<MPI_T_pvar_session> taken;
    while (taken.size() < 1 << 20 && (code = MPI_T_pvar_session_create(&session)) == MPI_SUCCESS)
        taken.push_back(session);
    refused(code, MPI_T_ERR_OUT_OF_SESSIONS);
    for (MPI_T_pvar_session &each : taken) good(MPI_T_pvar_session_free(&each));
    check_equal(Reading<>("p2p_messages_sent").value(), 0u);
}

// Sends `times` messages of `bytes` bytes around the ring. If `posted`, the receives are posted first.
void ring(int times, int bytes, bool posted) {
    std::vector<char> out(static_cast<size_t>(bytes), 'o'), in(static_cast<size_t>(times * bytes));
    std::vector<MPI_Request> requests(static_cast<size_t>(times)), sends(requests.size());
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    auto receive = [&] {
        for (int i = 0; i < times; ++i)
            MPI_Irecv(in.data() + i * bytes, bytes, MPI_CHAR, from, i, MPI_COMM_WORLD,
                      &requests[static_cast<size_t>(i)]);
    };
    if (posted) receive();
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < times; ++i)
        MPI_Isend(out.data(), bytes, MPI_CHAR, to, i, MPI_COMM_WORLD, &sends[static_cast<size_t>(i)]);
    if (!posted) {
        int there = 0;
        // When the last message has arrived, all messages before it have arrived too.
        while (!there) MPI_Iprobe(from, times - 1, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        Reading<> stored("p2p_unexpected_messages", MPI_T_PVAR_CLASS_LEVEL);
        check(stored.value() >= static_cast<Count>(times));
        receive();
    }
    MPI_Waitall(times, requests.data(), MPI_STATUSES_IGNORE);
    MPI_Waitall(times, sends.data(), MPI_STATUSES_IGNORE);
}

// Checks that a value is `wanted` or a little more, because messages of the other ranks may be stored as
// well.
void about(Count value, int wanted, const std::source_location &where = std::source_location::current()) {
    Count least = static_cast<Count>(wanted), most = least + static_cast<Count>(2 * (size - 1));
    check(value >= least && value <= most, std::to_string(value) + " is not about " + std::to_string(wanted),
          where);
}

void counters_count() {
    Reading<> sent("p2p_messages_sent"), matched("p2p_messages_matched"), stored("p2p_unexpected_stored"),
        most("p2p_unexpected_messages_most", MPI_T_PVAR_CLASS_HIGHWATERMARK),
        bytes("p2p_unexpected_bytes_most", MPI_T_PVAR_CLASS_HIGHWATERMARK);
    Reading<> posted("p2p_posted_receives", MPI_T_PVAR_CLASS_LEVEL);
    int in = 0, out = 7, self = rank_in(MPI_COMM_SELF);
    for (int i = 0; i < 5; ++i) {
        Count before = posted.value();
        MPI_Request request;
        MPI_Irecv(&in, 1, MPI_INT, self, 0, MPI_COMM_SELF, &request);
        check_equal(posted.value(), before + 1);
        MPI_Send(&out, 1, MPI_INT, self, 0, MPI_COMM_SELF);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check_equal(posted.value(), before);
    }
    check_equal(sent.value(), 5u);
    check_equal(matched.value(), 5u);
    about(stored.value(), 0);
    about(most.value(), 0);
    MPI_Barrier(MPI_COMM_WORLD);
    ring(30, 100, false);
    check(stored.value() >= 30);
    check(most.value() >= 30);
    check(bytes.value() >= 3000 || std::getenv("LANYARD_EAGER_LIMIT") || std::getenv("LANYARD_EAGER_CREDIT"),
          "the payload of stored messages is not counted");
    check(sent.value() >= 35 && matched.value() >= 35);
    MPI_Barrier(MPI_COMM_WORLD);
}

// A handle shows only what has happened since it was created or reset, and while it was started. It must not
// affect other handles.
void handles_are_apart() {
    Reading<> always("p2p_messages_sent"), other("p2p_messages_sent");
    int in = 0, out = 1;
    auto send = [&](int times) {
        for (int i = 0; i < times; ++i)
            MPI_Sendrecv(&out, 1, MPI_INT, 0, 0, &in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    };
    send(3);
    good(MPI_T_pvar_stop(other.session, other.handle));
    send(4);
    check_equal(other.value(), 3u);
    good(MPI_T_pvar_start(other.session, other.handle));
    good(MPI_T_pvar_start(other.session, other.handle));  // it is already started
    send(5);
    check_equal(other.value(), 8u);
    Count value = 100;
    good(MPI_T_pvar_write(other.session, other.handle, &value));
    send(1);
    good(MPI_T_pvar_readreset(other.session, other.handle, &value));
    check_equal(value, 101u);
    send(2);
    check_equal(other.value(), 2u);
    good(MPI_T_pvar_reset(other.session, other.handle));
    check_equal(other.value(), 0u);
    check_equal(always.value(), 15u);
    good(MPI_T_pvar_stop(always.session, MPI_T_PVAR_ALL_HANDLES));
    send(1);
    check_equal(always.value(), 15u);
}

// Sends `number` messages to this rank itself. They are stored until all have arrived.
void store_and_take(int number) {
    int value = 3;
    std::vector<MPI_Request> requests(static_cast<size_t>(number));
    for (size_t i = 0; i < requests.size(); ++i)
        MPI_Isend(&value, 1, MPI_INT, 0, static_cast<int>(i), MPI_COMM_SELF, &requests[i]);
    MPI_Probe(0, number - 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);  // all messages have arrived
    for (int i = 0; i < number; ++i) MPI_Recv(&value, 1, MPI_INT, 0, i, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Waitall(number, requests.data(), MPI_STATUSES_IGNORE);
}

void watermarks_are_apart() {
    Reading<> first("p2p_unexpected_messages_most", MPI_T_PVAR_CLASS_HIGHWATERMARK);
    store_and_take(8);
    about(first.value(), 8);
    Reading<> second("p2p_unexpected_messages_most", MPI_T_PVAR_CLASS_HIGHWATERMARK);
    about(second.value(), 0);
    store_and_take(5);
    about(first.value(), 8);
    about(second.value(), 5);
    store_and_take(9);
    Count value = 0;
    good(MPI_T_pvar_readreset(second.session, second.handle, &value));
    about(value, 9);
    about(first.value(), 9);
    store_and_take(2);
    about(second.value(), 2);
    good(MPI_T_pvar_stop(second.session, second.handle));
    store_and_take(6);
    about(second.value(), 2);
    good(MPI_T_pvar_start(second.session, second.handle));
    store_and_take(4);
    about(second.value(), 4);
    good(MPI_T_pvar_reset(second.session, second.handle));
    about(second.value(), 0);
    about(first.value(), 9);
}

void of_a_communicator() {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    Reading<unsigned> here("coll_started", MPI_T_PVAR_CLASS_COUNTER, comm),
        world("coll_started", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_WORLD),
        persistent("coll_persistent_made", MPI_T_PVAR_CLASS_COUNTER, comm);
    for (int i = 0; i < 3; ++i) MPI_Barrier(comm);
    check_equal(here.value(), 3u);
    check_equal(world.value(), 0u);
    MPI_Request request;
    MPI_Barrier_init(comm, MPI_INFO_NULL, &request);
    MPI_Request_free(&request);
    check_equal(persistent.value(), 1u);
    MPI_Comm_free(&comm);  // the handles keep their values
    check_equal(here.value(), 4u);
}

// Returns the number of ranks on this rank's node.
int ranks_here() {
    MPI_Comm node;
    int here = 0;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &here);
    MPI_Comm_free(&node);
    return here;
}

// Returns whether the job uses datagrams. A job uses one of the two networks: the one that LANYARD_PATHS
// names first.
bool by_datagrams() {
    const char *paths = std::getenv("LANYARD_PATHS");
    const char *dgram = paths ? std::strstr(paths, "dgram") : nullptr,
               *tcp = paths ? std::strstr(paths, "tcp") : nullptr;
    return dgram && (!tcp || dgram < tcp);
}

// Tests counters by process and in total. If `all`, every process is reached by datagrams.
void datagrams(bool used, bool all) {
    Reading<> sent("dgram_packets_sent"), known("dgram_peers", MPI_T_PVAR_CLASS_LEVEL),
        trip("dgram_round_trip", MPI_T_PVAR_CLASS_LEVEL),
        least("dgram_round_trip_least", MPI_T_PVAR_CLASS_LEVEL);
    Reading<> sent_to("dgram_peer_sent", MPI_T_PVAR_CLASS_LEVEL),
        received_from("dgram_peer_received", MPI_T_PVAR_CLASS_LEVEL),
        trip_to("dgram_peer_round_trip", MPI_T_PVAR_CLASS_LEVEL),
        least_to("dgram_peer_round_trip_least", MPI_T_PVAR_CLASS_LEVEL);
    for (const Reading<> *each : {&sent_to, &received_from, &trip_to, &least_to})
        check_equal(each->count, used ? size : 1);
    int value = 0, to = (rank + 1) % size, from = (rank + size - 1) % size;
    auto before_to = sent_to.values(), before_from = received_from.values();
    // Most messages travel in packets of their own, because a rank that is ahead of its neighbours waits for
    // them.
    constexpr int times = 50;
    for (int i = 0; i < times; ++i)
        MPI_Sendrecv(&value, 1, MPI_INT, to, 5, &value, 1, MPI_INT, from, 5, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (used && all) {
        auto at = [](const std::vector<Count> &values, int process) {
            return values[static_cast<size_t>(process)];
        };
        check(sent.value() >= times / 2, "sent: " + std::to_string(sent.value()));
        check(known.value() >= 1 && known.value() < static_cast<Count>(size));
        check(at(sent_to.values(), to) - at(before_to, to) >= times / 2,
              "too little was sent to the neighbour");
        check(at(received_from.values(), from) - at(before_from, from) >= times / 2,
              "too little arrived from the neighbour");
        check(at(least_to.values(), to) > 0 &&
              at(least_to.values(), to) <= trip.value() * static_cast<Count>(size));
        check(least.value() > 0 && least.value() <= at(least_to.values(), to));
        for (const Reading<> *each : {&sent_to, &received_from, &trip_to})
            check_equal(at(each->values(), rank), 0u);
    } else if (!used) {
        check(sent.value() == 0 && known.value() == 0 && trip.value() == 0 && least.value() == 0);
        for (const Reading<> *each : {&sent_to, &received_from, &trip_to}) check_equal(each->values()[0], 0u);
    }
}

// The variables of the paths that messages use must have values. Those of the other paths must be 0.
void ways() {
    const char *paths = std::getenv("LANYARD_PATHS");
    int here = ranks_here();
    bool sharing = here > 1 && (!paths || std::strstr(paths, "shm")),
         connected = size > here || (size > 1 && !sharing);
    bool dgrams = connected && by_datagrams();
    Reading<> sent("network_envelopes_sent"), received("network_envelopes_received");
    Reading<> bulk_sent("network_bulk_sent"), bulk_received("network_bulk_received");
    Reading<> open("network_connections", MPI_T_PVAR_CLASS_LEVEL), rings("shm_rings", MPI_T_PVAR_CLASS_LEVEL);
    Reading<> cells("shm_cells", MPI_T_PVAR_CLASS_SIZE), segment("shm_segment_bytes", MPI_T_PVAR_CLASS_LEVEL);
    ring(3, 1 << 20, true);
    MPI_Barrier(MPI_COMM_WORLD);
    // If both paths are used, it depends on the rank which path leads to its neighbours.
    if (!connected || !sharing) {
        for (const Reading<> *each : {&sent, &received})
            check(connected ? each->value() >= 3 : each->value() == 0);
        for (const Reading<> *each : {&bulk_sent, &bulk_received})
            check(connected ? each->value() >= 1 : each->value() == 0);
    }
    check(connected && !dgrams ? open.value() >= 1 : open.value() == 0);
    datagrams(dgrams, connected && !sharing);
    for (const Reading<> *each : {&rings, &cells, &segment})
        check(sharing ? each->value() >= 1 : each->value() == 0);
}

// A thread that waits falls asleep after a while. This must be counted and timed.
void sleepers_are_timed() {
    if (size == 1) return;
    Reading<> sleeps("engine_sleeps");
    Reading<double> asleep("engine_time_asleep", MPI_T_PVAR_CLASS_TIMER);
    int value = 1;
    if (rank == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        for (int to = 1; to < size; ++to) MPI_Send(&value, 1, MPI_INT, to, 0, MPI_COMM_WORLD);
        return;
    }
    double begun = MPI_Wtime();
    MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    double waited = MPI_Wtime() - begun;
    if (waited < 0.1) return;  // this rank arrived late, so it did not wait
    check(sleeps.value() >= 1);
    check(asleep.value() > 0.03 && asleep.value() <= waited,
          "asleep for " + std::to_string(asleep.value()) + " of " + std::to_string(waited) + " s");
}

// Handles for every variable. A variable of a communicator is bound to MPI_COMM_WORLD.
struct EveryVariable {
    EveryVariable() {
        good(MPI_T_pvar_session_create(&session));
        int number = 0, count = 0, bind = 0;
        good(MPI_T_pvar_get_num(&number));
        handles.resize(static_cast<size_t>(number));
        MPI_Comm comm = MPI_COMM_WORLD;
        for (int i = 0; i < number; ++i) {
            good(MPI_T_pvar_get_info(i, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                     nullptr, &bind, nullptr, nullptr, nullptr));
            good(MPI_T_pvar_handle_alloc(session, i, bind == MPI_T_BIND_MPI_COMM ? &comm : nullptr,
                                         &handles[static_cast<size_t>(i)], &count));
        }
    }
    ~EveryVariable() { good(MPI_T_pvar_session_free(&session)); }
    EveryVariable(const EveryVariable &) = delete;
    EveryVariable &operator=(const EveryVariable &) = delete;

    void read() {
        std::vector<double> values(static_cast<size_t>(most_values()));
        for (MPI_T_pvar_handle handle : handles) good(MPI_T_pvar_read(session, handle, values.data()));
    }

    MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
    std::vector<MPI_T_pvar_handle> handles;
};

// Another thread reads all variables continuously while this thread sends.
void another_thread_reads() {
    std::atomic<bool> over{false};
    Count seen = 0;
    std::thread reader([&] {
        Reading<> sent("p2p_messages_sent"),
            waiting("p2p_unexpected_messages_most", MPI_T_PVAR_CLASS_HIGHWATERMARK);
        Reading<int> state("engine_waiting", MPI_T_PVAR_CLASS_STATE);
        EveryVariable every;
        while (!over.load()) {
            Count now = sent.value();
            check(now >= seen, "a counter went back");
            seen = now;
            good(MPI_T_pvar_reset(waiting.session, waiting.handle));
            int waits = state.value();
            check(waits == 0 || waits == 1);
            every.read();
        }
    });
    for (int i = 0; i < 30; ++i) ring(5, 200, i % 2);
    over.store(true);
    reader.join();
    MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char **argv) {
    int provided = -1;
    MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
    refused(MPI_T_pvar_session_create(&session), MPI_T_ERR_NOT_INITIALIZED);
    refused(MPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED);
    good(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    check_equal(provided, MPI_THREAD_MULTIPLE);
    ToolUse in_use;
    good(MPI_T_finalize());  // the interface stays in use, because it was initialised twice
    Reading<> from_the_start("p2p_messages_sent");
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    rank = rank_in(MPI_COMM_WORLD);
    size = size_of(MPI_COMM_WORLD);
    walk_over_all();
    errors();
    sessions_run_out();
    counters_count();
    handles_are_apart();
    watermarks_are_apart();
    of_a_communicator();
    ways();
    sleepers_are_timed();
    another_thread_reads();
    Reading<unsigned> of_the_world("coll_started", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    check(of_the_world.value() >= 1);
    check(from_the_start.value() >= 30);
    return 0;
}
