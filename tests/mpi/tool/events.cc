// Tests events: their contents, when and how often they are delivered, and to which registrations. Also tests
// categories and sources, and the events of connections if processes are connected by TCP.
#include <set>
#include <vector>

#include "tool.h"

namespace {

int rank, size;

int event_index(const char *name) {
    int index = -1;
    good(MPI_T_event_get_index(name, &index));
    return index;
}

struct Shape {
    Shape() = default;
    explicit Shape(const char *name) {
        elements = 8;
        good(MPI_T_event_get_info(event_index(name), nullptr, nullptr, nullptr, types, places, &elements,
                                  &names, nullptr, nullptr, nullptr, nullptr));
        int items = 0;
        good(MPI_T_enum_get_info(names, &items, nullptr, nullptr));
        check_equal(items, elements);
    }
    MPI_Datatype types[8];
    MPI_Aint places[8];
    int elements = 0;
    MPI_T_enum names = MPI_T_ENUM_NULL;
};

struct Seen {
    Shape shape;
    std::vector<std::vector<long long>> events;  // the values of each event, by element
    std::vector<MPI_Count> times;
    MPI_Count dropped = 0;
    int freed = 0;
    bool free_there = false;  // whether the callback for an event frees its own registration
    MPI_T_event_registration registration = nullptr;
};

void freed(MPI_T_event_registration registration, MPI_T_cb_safety, void *data) {
    auto *seen = static_cast<Seen *>(data);
    check(registration == seen->registration);
    ++seen->freed;
}

long long element(MPI_Datatype type, const void *at) {
    return type == MPI_INT ? *static_cast<const int *>(at) : *static_cast<const MPI_Count *>(at);
}

// Reads the event by MPI_T_event_copy and by MPI_T_event_read, and calls MPI, which is allowed here.
void event(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety,
           void *data) {
    auto *seen = static_cast<Seen *>(data);
    check(registration == seen->registration && safety == MPI_T_CB_REQUIRE_NONE);
    const Shape &shape = seen->shape;
    std::vector<long long> values;
    char copy[64];
    MPI_Count single = 0;
    good(MPI_T_event_copy(instance, copy));
    refused(MPI_T_event_read(instance, shape.elements, &single), MPI_T_ERR_INVALID_INDEX);
    refused(MPI_T_event_read(instance, -1, &single), MPI_T_ERR_INVALID_INDEX);
    for (int i = 0; i < shape.elements; ++i) {
        good(MPI_T_event_read(instance, i, &single));
        values.push_back(element(shape.types[i], &single));
        check_equal(element(shape.types[i], copy + shape.places[i]), values.back());
    }
    MPI_Count time = 0, now = 0;
    int source = -1;
    good(MPI_T_event_get_timestamp(instance, &time));
    good(MPI_T_event_get_source(instance, &source));
    good(MPI_T_source_get_timestamp(source, &now));
    check(time > 0 && time <= now);
    check(seen->times.empty() || seen->times.back() <= time, "events come in another order");
    seen->times.push_back(time);
    seen->events.push_back(values);
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    check_equal(sum, 1);
    if (seen->free_there) good(MPI_T_event_handle_free(registration, seen, freed));
}

void dropped(MPI_Count count, MPI_T_event_registration registration, int source, MPI_T_cb_safety,
             void *data) {
    auto *seen = static_cast<Seen *>(data);
    check(registration == seen->registration && source == 0);
    seen->dropped += count;
}

void listen(Seen &seen, const char *name, MPI_Comm comm,
            MPI_T_cb_safety safety = MPI_T_CB_REQUIRE_MPI_RESTRICTED) {
    seen.shape = Shape(name);
    good(MPI_T_event_handle_alloc(event_index(name), comm == MPI_COMM_NULL ? nullptr : &comm, MPI_INFO_NULL,
                                  &seen.registration));
    good(MPI_T_event_register_callback(seen.registration, safety, MPI_INFO_NULL, &seen, event));
    good(MPI_T_event_set_dropped_handler(seen.registration, dropped));
}

void end(Seen &seen) {
    good(MPI_T_event_handle_free(seen.registration, &seen, freed));
    check_equal(seen.freed, 1);
}

// Sends messages to this rank itself before their receives are posted.
void send_before_receive(MPI_Comm comm, int number, int first_tag, int bytes) {
    std::vector<char> out(static_cast<size_t>(bytes)), in(out.size());
    std::vector<MPI_Request> requests(static_cast<size_t>(number));
    int self = rank_in(comm);
    for (int i = 0; i < number; ++i)
        MPI_Isend(out.data(), bytes, MPI_CHAR, self, first_tag + i, comm, &requests[static_cast<size_t>(i)]);
    MPI_Probe(self, first_tag + number - 1, comm, MPI_STATUS_IGNORE);  // all messages have arrived
    for (int i = 0; i < number; ++i)
        MPI_Recv(in.data(), bytes, MPI_CHAR, self, first_tag + i, comm, MPI_STATUS_IGNORE);
    MPI_Waitall(number, requests.data(), MPI_STATUSES_IGNORE);
}

void unexpected_messages() {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    Seen all, none;
    listen(all, "p2p_unexpected_message", comm);
    listen(none, "p2p_unexpected_message", MPI_COMM_SELF);
    send_before_receive(comm, 3, 40, 10);
    check_equal(all.events.size(), 3u);
    for (int i = 0; i < 3; ++i)
        check(all.events[static_cast<size_t>(i)] == std::vector<long long>{0, 40 + i, 10},
              "another message is told of");
    int value = 0;  // this message is expected, so there must be no event
    MPI_Request request;
    MPI_Irecv(&value, 1, MPI_INT, 0, 0, comm, &request);
    MPI_Send(&value, 1, MPI_INT, 0, 0, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_equal(all.events.size(), 3u);
    check_equal(none.events.size(), 0u);
    good(MPI_T_event_register_callback(all.registration, MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_INFO_NULL,
                                       nullptr, nullptr));
    send_before_receive(comm, 3, 50, 10);
    check_equal(all.events.size(), 3u);
    end(all);
    end(none);
    send_before_receive(comm, 3, 60, 10);
    check_equal(all.events.size(), 3u);
    MPI_Comm_free(&comm);
}

void offers() {
    Seen seen;
    listen(seen, "p2p_rendezvous", MPI_COMM_SELF);
    send_before_receive(MPI_COMM_SELF, 2, 7, 1 << 20);
    check_equal(seen.events.size(), 2u);
    check(seen.events[1] == std::vector<long long>{0, 8, 1 << 20, 1}, "the offer is another");
    int value = 0;
    MPI_Request request;
    MPI_Issend(&value, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &request);
    MPI_Probe(0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Recv(&value, 1, MPI_INT, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_equal(seen.events.size(), 3u);
    check(seen.events[2] == std::vector<long long>{0, 3, 4, 0}, "the synchronous send is another");
    end(seen);
}

// An algorithm is chosen once for each communicator, operation and size class. The event states the smallest
// length of the class. It agrees with the control variables.
void algorithms() {
    if (size == 1) return;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    Seen seen;
    listen(seen, "coll_algorithm", comm);
    long long data[100] = {};
    for (int i = 0; i < 3; ++i) MPI_Bcast(data, 100, MPI_LONG_LONG, 0, comm);
    check_equal(seen.events.size(), 1u);
    const auto &told = seen.events[0];
    check_equal(told[2], 512);
    check_equal(told[3], size);
    int barrier = -1, items = 0, length = text_room;
    good(MPI_T_cvar_get_index("coll_barrier_algorithm", &barrier));
    char name[text_room];
    MPI_T_enum enumeration = MPI_T_ENUM_NULL;
    good(MPI_T_cvar_get_info(barrier + static_cast<int>(told[0]), name, &length, nullptr, nullptr,
                             &enumeration, nullptr, nullptr, nullptr, nullptr));
    check(std::string(name) == "coll_bcast_algorithm", name);
    good(MPI_T_enum_get_info(enumeration, &items, nullptr, nullptr));
    check(told[1] >= 1 && told[1] < items);
    end(seen);
    MPI_Comm_free(&comm);
}

// One call starts so many sends that the event queue overflows, because no event is delivered before the call
// returns. The library must count the lost events.
void too_many() {
    Seen seen;
    listen(seen, "p2p_unexpected_message", MPI_COMM_SELF);
    constexpr int number = 3000;
    std::vector<int> values(number);
    std::vector<MPI_Request> requests(number);
    for (int i = 0; i < number; ++i)
        MPI_Send_init(&values[0], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[static_cast<size_t>(i)]);
    MPI_Startall(number, requests.data());
    MPI_Probe(0, number - 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    for (int i = 0; i < number; ++i) MPI_Recv(&values[0], 1, MPI_INT, 0, i, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Waitall(number, requests.data(), MPI_STATUSES_IGNORE);
    for (MPI_Request &each : requests) MPI_Request_free(&each);
    check_equal(static_cast<MPI_Count>(seen.events.size()) + seen.dropped, MPI_Count{number});
    check(seen.dropped > 0, "nothing was dropped");
    end(seen);
}

void freed_where_it_is_told() {
    Seen seen;
    seen.free_there = true;
    listen(seen, "p2p_unexpected_message", MPI_COMM_SELF);
    MPI_T_event_registration registration = seen.registration;
    send_before_receive(MPI_COMM_SELF, 3, 0, 4);
    check_equal(seen.events.size(), 1u);
    check_equal(seen.freed, 1);
    refused(MPI_T_event_handle_free(registration, nullptr, nullptr), MPI_T_ERR_INVALID_HANDLE);
}

void errors() {
    int number = 0;
    Seen seen;
    good(MPI_T_event_get_num(&number));
    MPI_T_event_registration none = nullptr;
    for (int wrong : {-1, number}) {
        refused(MPI_T_event_get_info(wrong, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                     nullptr, nullptr, nullptr, nullptr),
                MPI_T_ERR_INVALID_INDEX);
        refused(MPI_T_event_handle_alloc(wrong, nullptr, MPI_INFO_NULL, &none), MPI_T_ERR_INVALID_INDEX);
    }
    refused(MPI_T_event_get_index("nothing", &number), MPI_T_ERR_INVALID_NAME);
    refused(MPI_T_event_handle_alloc(event_index("coll_algorithm"), nullptr, MPI_INFO_NULL, &none),
            MPI_T_ERR_INVALID);
    refused(MPI_T_event_register_callback(none, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, nullptr, event),
            MPI_T_ERR_INVALID_HANDLE);
    refused(MPI_T_event_set_dropped_handler(none, dropped), MPI_T_ERR_INVALID_HANDLE);
    refused(MPI_T_event_handle_free(none, nullptr, nullptr), MPI_T_ERR_INVALID_HANDLE);
    refused(MPI_T_event_copy(nullptr, &number), MPI_T_ERR_INVALID_HANDLE);
    refused(MPI_T_event_read(nullptr, 0, &number), MPI_T_ERR_INVALID_HANDLE);
    refused(MPI_T_event_get_source(nullptr, &number), MPI_T_ERR_INVALID_HANDLE);
    MPI_Count time = 0;
    refused(MPI_T_event_get_timestamp(nullptr, &time), MPI_T_ERR_INVALID_HANDLE);
    listen(seen, "network_connection_made", MPI_COMM_NULL);
    refused(MPI_T_event_register_callback(seen.registration, static_cast<MPI_T_cb_safety>(99), MPI_INFO_NULL,
                                          nullptr, event),
            MPI_T_ERR_INVALID);
    MPI_Info info = MPI_INFO_NULL;
    int keys = -1;
    good(MPI_T_event_handle_set_info(seen.registration, MPI_INFO_NULL));
    good(MPI_T_event_callback_set_info(seen.registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL));
    good(MPI_T_event_handle_get_info(seen.registration, &info));
    good(MPI_Info_get_nkeys(info, &keys));
    check_equal(keys, 0);
    MPI_Info_free(&info);
    good(MPI_T_event_callback_get_info(seen.registration, MPI_T_CB_REQUIRE_NONE, &info));
    MPI_Info_free(&info);
    refused(MPI_T_event_callback_get_info(seen.registration, static_cast<MPI_T_cb_safety>(99), &info),
            MPI_T_ERR_INVALID);
    end(seen);
    refused(MPI_T_event_handle_get_info(seen.registration, &info), MPI_T_ERR_INVALID_HANDLE);
}

void sources() {
    int number = 0, length = text_room;
    good(MPI_T_source_get_num(&number));
    check_equal(number, 1);
    char name[text_room];
    MPI_T_source_order order = MPI_T_SOURCE_UNORDERED;
    MPI_Count ticks = 0, most = 0, before = 0, after = 0;
    MPI_Info info = MPI_INFO_NULL;
    good(MPI_T_source_get_info(0, name, &length, nullptr, nullptr, &order, &ticks, &most, &info));
    MPI_Info_free(&info);
    check(order == MPI_T_SOURCE_ORDERED && ticks == 1000000000 && most > ticks && length > 1);
    good(MPI_T_source_get_timestamp(0, &before));
    double begun = MPI_Wtime();
    while (MPI_Wtime() < begun + 0.01) {
    }
    good(MPI_T_source_get_timestamp(0, &after));
    check(after - before >= ticks / 100);
    refused(MPI_T_source_get_timestamp(1, &after), MPI_T_ERR_INVALID_INDEX);
    refused(MPI_T_source_get_info(-1, name, &length, nullptr, nullptr, &order, &ticks, &most, nullptr),
            MPI_T_ERR_INVALID_INDEX);
}

// Waits until the number of events is the number of connections. Each event must be about a different
// process.
void connections(Seen &seen) {
    Reading<> open("network_connections", MPI_T_PVAR_CLASS_LEVEL);
    double begun = MPI_Wtime();
    // too_many() fills the event queue, so events of connections may be dropped meanwhile.
    auto agree = [&] { return seen.events.size() + static_cast<size_t>(seen.dropped) == open.value(); };
    while (!agree() && MPI_Wtime() < begun + 20) {
        int there = 0;
        // events are delivered when such a call returns
        MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    }
    check(agree(), std::to_string(seen.events.size()) + " events tell of " + std::to_string(open.value()) +
                       " connections");
    std::set<long long> processes;
    for (const auto &told : seen.events) {
        check(told[0] >= 0 && told[0] < size && told[0] != rank && told[1] == 0,
              "another connection is told of");
        check(processes.insert(told[0]).second, "a connection is told of twice");
    }
    const char *paths = std::getenv("LANYARD_PATHS");
    const char *tcp = paths ? std::strstr(paths, "tcp") : nullptr,
               *dgram = paths ? std::strstr(paths, "dgram") : nullptr;
    bool wanted = tcp && !std::strstr(paths, "shm") && (!dgram || tcp < dgram);
    if (wanted && size > 1) check(!processes.empty() || seen.dropped > 0, "there are no connections");
    if (dgram && !wanted) check(processes.empty() && seen.dropped == 0, "datagrams need no connections");
    end(seen);
}

// Every variable and event must be in exactly one category. Every category except one, which is the root,
// must be in exactly one category. (It is not checked which category the root is, nor that the members'
// indices are valid.)
void categories() {
    int number = 0, stamp = -1, again = -1, total[4] = {}, wanted[4] = {0, -1, -1, -1};
    good(MPI_T_category_changed(&stamp));
    good(MPI_T_category_get_num(&number));
    wanted[0] = number - 1;
    good(MPI_T_cvar_get_num(&wanted[1]));
    good(MPI_T_pvar_get_num(&wanted[2]));
    good(MPI_T_event_get_num(&wanted[3]));
    std::set<int> found[4];
    for (int i = 0; i < number; ++i) {
        char name[text_room];
        int length = text_room, index = -1, members[4], indices[256];
        good(MPI_T_category_get_info(i, name, &length, nullptr, nullptr, &members[1], &members[2],
                                     &members[0]));
        good(MPI_T_category_get_num_events(i, &members[3]));
        good(MPI_T_category_get_index(name, &index));
        check_equal(index, i);
        int (*const get[])(int, int, int[]) = {MPI_T_category_get_categories, MPI_T_category_get_cvars,
                                               MPI_T_category_get_pvars, MPI_T_category_get_events};
        for (int kind = 0; kind < 4; ++kind) {
            indices[members[kind]] = -7;
            good(get[kind](i, 256, indices));
            for (int j = 0; j < members[kind]; ++j)
                check(found[kind].insert(indices[j]).second, "it is in two categories");
            check_equal(indices[members[kind]], -7);
            total[kind] += members[kind];
            if (members[kind] > 1) {
                indices[0] = indices[1] = -7;
                good(get[kind](i, 1, indices));
                check(indices[0] >= 0 && indices[1] == -7);
            }
            refused(get[kind](i, -1, indices), MPI_T_ERR_INVALID);
            refused(get[kind](number, 1, indices), MPI_T_ERR_INVALID_INDEX);
        }
    }
    for (int kind = 0; kind < 4; ++kind) check_equal(total[kind], wanted[kind]);
    refused(MPI_T_category_get_info(-1, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr),
            MPI_T_ERR_INVALID_INDEX);
    refused(MPI_T_category_get_num_events(number, nullptr), MPI_T_ERR_INVALID_INDEX);
    refused(MPI_T_category_get_index("nothing", &number), MPI_T_ERR_INVALID_NAME);
    good(MPI_T_category_changed(&again));
    check_equal(again, stamp);
}

}  // namespace

int main(int argc, char **argv) {
    refused(MPI_T_category_changed(nullptr), MPI_T_ERR_NOT_INITIALIZED);
    ToolUse in_use;
    categories();
    Seen early;  // registered before MPI_Init
    listen(early, "network_connection_made", MPI_COMM_NULL);
    MPI_Init(&argc, &argv);
    rank = rank_in(MPI_COMM_WORLD);
    size = size_of(MPI_COMM_WORLD);
    sources();
    errors();
    unexpected_messages();
    offers();
    algorithms();
    too_many();
    freed_where_it_is_told();
    use(MPI_COMM_WORLD);
    connections(early);
    MPI_Finalize();
    return 0;
}
