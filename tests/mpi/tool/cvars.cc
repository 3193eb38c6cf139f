// Tests control variables. Each setting is a control variable. Before MPI_Init it can be read and written,
// and a written value takes effect. After MPI_Init it can be written only if this can still have an effect.
// The algorithms of collectives are variables of a communicator.
#include <set>
#include <vector>

#include "tool.h"

namespace {

// Each variable must have its own name, a description, a type that the interface allows, and a handle.
void walk_over_all() {
    int number = -1, items = -1;
    good(MPI_T_cvar_get_num(&number));
    check(number > 20);
    std::set<std::string> names;
    for (int i = 0; i < number; ++i) {
        char name[text_room], text[text_room];
        int name_length = text_room, text_length = text_room, verbosity = 0, bind = 0, scope = 0, index = -1;
        MPI_Datatype type = MPI_DATATYPE_NULL;
        MPI_T_enum enumeration = MPI_T_ENUM_NULL;
        good(MPI_T_cvar_get_info(i, name, &name_length, &verbosity, &type, &enumeration, text, &text_length,
                                 &bind, &scope));
        check_equal(name_length, static_cast<int>(std::strlen(name)) + 1);
        check_equal(text_length, static_cast<int>(std::strlen(text)) + 1);
        check(names.insert(name).second, "a name comes twice");
        check(text_length > 10, name);
        check(type == MPI_CHAR || type == MPI_INT || type == MPI_COUNT, name);
        check(verbosity >= MPI_T_VERBOSITY_USER_BASIC && verbosity <= MPI_T_VERBOSITY_MPIDEV_ALL, name);
        check(scope == MPI_T_SCOPE_LOCAL || scope == MPI_T_SCOPE_ALL_EQ || scope == MPI_T_SCOPE_GROUP_EQ,
              name);
        good(MPI_T_cvar_get_index(name, &index));
        check_equal(index, i);
        if (enumeration != MPI_T_ENUM_NULL) {
            check(type == MPI_INT, name);
            good(MPI_T_enum_get_info(enumeration, &items, name, &name_length));
            check(items >= 2, name);
        }
        // The call must accept null pointers for the results that the program does not need.
        good(MPI_T_cvar_get_info(i, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                 nullptr));
    }
}

// Texts that are longer than the program's buffer must be truncated (MPI-5.0 15.3.3).
void texts_are_cut() {
    char name[8] = "#######";
    int index = cvar_index("LANYARD_EAGER_LIMIT"), length = 4, whole = sizeof "LANYARD_EAGER_LIMIT";
    good(MPI_T_cvar_get_info(index, name, &length, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                             nullptr));
    check(std::strcmp(name, "LAN") == 0 && name[4] == '#', name);
    check_equal(length, whole);
    length = 0;
    good(MPI_T_cvar_get_info(index, name, &length, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                             nullptr));
    check_equal(length, whole);
    check(std::strcmp(name, "LAN") == 0, name);
    length = -1;
    good(MPI_T_cvar_get_info(index, nullptr, &length, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                             nullptr));
    check_equal(length, whole);
    good(MPI_T_cvar_get_info(index, name, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                             nullptr));
    check(std::strcmp(name, "LAN") == 0, name);
}

void errors() {
    int number = 0, value = 0, count = 0;
    good(MPI_T_cvar_get_num(&number));
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    for (int index : {-1, number}) {
        refused(MPI_T_cvar_get_info(index, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                    nullptr, nullptr),
                MPI_T_ERR_INVALID_INDEX);
        refused(MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count), MPI_T_ERR_INVALID_INDEX);
    }
    refused(MPI_T_cvar_get_index("LANYARD_EAGER", &value), MPI_T_ERR_INVALID_NAME);
    refused(MPI_T_cvar_get_index(nullptr, &value), MPI_T_ERR_INVALID);
    refused(MPI_T_cvar_handle_alloc(0, nullptr, nullptr, &count), MPI_T_ERR_INVALID);
    refused(MPI_T_cvar_handle_alloc(cvar_index("coll_bcast_algorithm"), nullptr, &handle, &count),
            MPI_T_ERR_INVALID);
    refused(MPI_T_cvar_read(handle, &value), MPI_T_ERR_INVALID_HANDLE);
    refused(MPI_T_cvar_write(handle, &value), MPI_T_ERR_INVALID_HANDLE);
    refused(MPI_T_cvar_handle_free(&handle), MPI_T_ERR_INVALID_HANDLE);
    Control check("LANYARD_CHECK");
    refused(check.write(2), MPI_T_ERR_INVALID);
    refused(check.write(-1), MPI_T_ERR_INVALID);
    refused(Control("LANYARD_EAGER_LIMIT").write(MPI_Count{-2}), MPI_T_ERR_INVALID);
    refused(Control("LANYARD_LOG").write_text("loud"), MPI_T_ERR_INVALID);
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    good(MPI_Error_string(MPI_T_ERR_INVALID_NAME, text, &length));
    ::check(std::strstr(text, "MPI_T_ERR_INVALID_NAME") != nullptr, text);
}

// If handles are not freed, their number reaches a limit. Reaching it must be an ordinary error. Freed
// handles can be allocated again.
void handles_run_out() {
    int index = cvar_index("LANYARD_CHECK"), count = 0, code = MPI_SUCCESS;
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    std::vector<MPI_T_cvar_handle> taken;
    while (taken.size() < 1 << 20 &&
           (code = MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count)) == MPI_SUCCESS)
        taken.push_back(handle);
    refused(code, MPI_T_ERR_OUT_OF_HANDLES);
    for (MPI_T_cvar_handle &each : taken) good(MPI_T_cvar_handle_free(&each));
    check_equal(Control("LANYARD_CHECK").read<int>(), 0);
}

// Tests enumerations, and requests for items that do not exist in them.
void enumerations() {
    MPI_T_enum enumeration = MPI_T_ENUM_NULL;
    good(MPI_T_cvar_get_info(cvar_index("LANYARD_PROGRESS"), nullptr, nullptr, nullptr, nullptr, &enumeration,
                             nullptr, nullptr, nullptr, nullptr));
    int items = 0, value = -1, length = text_room;
    char name[text_room];
    good(MPI_T_enum_get_info(enumeration, &items, name, &length));
    check_equal(items, 3);
    for (int i = 0; i < items; ++i) {
        length = text_room;
        good(MPI_T_enum_get_item(enumeration, i, &value, name, &length));
        check_equal(value, i);
        check(std::string(name) == (i == 0 ? "auto" : i == 1 ? "helper" : "caller"), name);
    }
    refused(MPI_T_enum_get_item(enumeration, items, &value, name, &length), MPI_T_ERR_INVALID_INDEX);
    refused(MPI_T_enum_get_item(enumeration, -1, &value, name, &length), MPI_T_ERR_INVALID_INDEX);
    refused(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &items, name, &length), MPI_T_ERR_INVALID_HANDLE);
    refused(MPI_T_enum_get_item(MPI_T_ENUM_NULL, 0, &value, name, &length), MPI_T_ERR_INVALID_HANDLE);
}

// Returns the value that the environment sets, or the default.
MPI_Count first_bytes() {
    const char *given = std::getenv("LANYARD_FIRST_BYTES");
    return given ? std::atoll(given) : 262144;
}

void before_init() {
    check_equal(Control("LANYARD_FIRST_BYTES").read<MPI_Count>(), first_bytes());
    check(Control("LANYARD_SHM_DIR").count() > 100);
    check(Control("LANYARD_CONNECT").read<int>() == 0);
    check(Control("LANYARD_LOG").text().empty());
    good(Control("LANYARD_EAGER_LIMIT").write(MPI_Count{100}));
    good(Control("LANYARD_SPIN_US").write(MPI_Count{7}));
    good(Control("LANYARD_PROGRESS").write(2));
    good(Control("LANYARD_CHECK").write(1));
    good(Control("LANYARD_CHECK").write(0));
    good(Control("LANYARD_SHM_DIR").write_text("/tmp"));
    check(Control("LANYARD_SHM_DIR").text() == "/tmp");
    good(Control("LANYARD_SHM_DIR").write_text(""));
    check(Control("LANYARD_SHM_DIR").text() == "/dev/shm");
    check_equal(Control("LANYARD_EAGER_LIMIT").read<MPI_Count>(), 100);
}

// Sends messages from this rank to itself. Returns how many of them began with an offer.
unsigned long long offered(int bytes, int times) {
    Reading<> rendezvous("p2p_rendezvous_sent");
    std::string sent(static_cast<size_t>(bytes), 'x'), received(sent.size(), 0);
    for (int i = 0; i < times; ++i) {
        MPI_Request request;
        MPI_Irecv(received.data(), bytes, MPI_CHAR, rank_in(MPI_COMM_WORLD), 5, MPI_COMM_WORLD, &request);
        MPI_Send(sent.data(), bytes, MPI_CHAR, rank_in(MPI_COMM_WORLD), 5, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    check(received == sent);
    return rendezvous.value();
}

// Exactly these settings may be changed after MPI_Init. The test writes each setting's current value, which
// is always valid.
void who_may_change() {
    const std::set<std::string> changing = {
        "LANYARD_LOG",    "LANYARD_CHECK",   "LANYARD_EAGER_LIMIT",    "LANYARD_FIRST_BYTES",
        "LANYARD_RETAIN", "LANYARD_CMA",     "LANYARD_COPIES",         "LANYARD_COPY_LOOP",
        "LANYARD_DEMOTE", "LANYARD_SPIN_US", "LANYARD_WRITE_PROTOCOL", "LANYARD_TESTS_PER_YIELD"};
    int number = 0;
    good(MPI_T_cvar_get_num(&number));
    for (int i = 0; i < number; ++i) {
        char name[text_room];
        int length = text_room, bind = 0;
        good(MPI_T_cvar_get_info(i, name, &length, nullptr, nullptr, nullptr, nullptr, nullptr, &bind,
                                 nullptr));
        if (bind != MPI_T_BIND_NO_OBJECT) continue;
        Control variable(name);
        std::string value(static_cast<size_t>(variable.count()) * sizeof(MPI_Count), 0);
        variable.read_into(value.data());
        check_equal(variable.write_text(value.data()),
                    changing.count(name) ? MPI_SUCCESS : MPI_T_ERR_CVAR_SET_NEVER);
    }
}

void after_init() {
    check_equal(Control("LANYARD_EAGER_LIMIT").read<MPI_Count>(), 100);
    check_equal(Control("LANYARD_PROGRESS").read<int>(), 2);
    check_equal(Control("LANYARD_FIRST_BYTES").read<MPI_Count>(), first_bytes());
    check_equal(offered(200, 3), 3u);  // the value written before MPI_Init is in effect
    check_equal(offered(100, 3), 0u);
    good(Control("LANYARD_EAGER_LIMIT").write(MPI_Count{200}));
    check_equal(offered(200, 3), 0u);  // and so is a value written later
    check_equal(offered(201, 3), 3u);
    for (const char *name :
         {"LANYARD_PATHS", "LANYARD_SHM_DIR", "LANYARD_INTERFACES", "LANYARD_PORT_RANGE"}) {
        refused(Control(name).write_text("x"), MPI_T_ERR_CVAR_SET_NEVER);
        check(Control(name).text() != "x");
    }
    for (const char *name :
         {"LANYARD_PROGRESS", "LANYARD_DGRAM_PROGRESS", "LANYARD_CONNECT", "LANYARD_CHECKSUM"})
        refused(Control(name).write(0), MPI_T_ERR_CVAR_SET_NEVER);
    for (const char *name : {"LANYARD_EAGER_CREDIT", "LANYARD_SOCKET_BUFFER", "LANYARD_PEER_TIMEOUT"})
        refused(Control(name).write(MPI_Count{1000}), MPI_T_ERR_CVAR_SET_NEVER);
    for (const char *name : {"LANYARD_SPIN_US", "LANYARD_FIRST_BYTES"}) {
        good(Control(name).write(MPI_Count{50}));
        check_equal(Control(name).read<MPI_Count>(), 50);
    }
    for (int direct : {0, 1}) {
        good(Control("LANYARD_CMA").write(direct));
        std::string data(1 << 20, static_cast<char>('a' + rank_in(MPI_COMM_WORLD))), received(data.size(), 0);
        int size = size_of(MPI_COMM_WORLD), rank = rank_in(MPI_COMM_WORLD), before = (rank + size - 1) % size;
        MPI_Sendrecv(data.data(), 1 << 20, MPI_CHAR, (rank + 1) % size, 1, received.data(), 1 << 20, MPI_CHAR,
                     before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(received == std::string(data.size(), static_cast<char>('a' + before)));
    }
    good(Control("LANYARD_LOG").write_text("debug,shm"));
    check(Control("LANYARD_LOG").text() == "debug,shm");
    good(Control("LANYARD_LOG").write_text(""));
}

// Sets each algorithm of each operation on a separate communicator. The communicator must work with each of
// them, and MPI_COMM_WORLD must keep its own algorithm.
void algorithms() {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    int number = 0;
    good(MPI_T_cvar_get_num(&number));
    for (int i = 0; i < number; ++i) {
        char name[text_room];
        int length = text_room, bind = 0, items = 0;
        MPI_T_enum enumeration = MPI_T_ENUM_NULL;
        good(MPI_T_cvar_get_info(i, name, &length, nullptr, nullptr, &enumeration, nullptr, nullptr, &bind,
                                 nullptr));
        if (bind != MPI_T_BIND_MPI_COMM) continue;
        good(MPI_T_enum_get_info(enumeration, &items, nullptr, nullptr));
        Control algorithm(name, comm);
        for (int each = 0; each < items; ++each) {
            good(algorithm.write(each));
            check_equal(algorithm.read<int>(), each);
            check_equal(Control(name, MPI_COMM_WORLD).read<int>(), 0);
            use(comm);
            int data[64] = {rank_in(comm)};
            MPI_Bcast(data, 64, MPI_INT, 0, comm);
            check_equal(data[0], 0);
        }
        refused(algorithm.write(items), MPI_T_ERR_INVALID);
        good(algorithm.write(0));
    }
    MPI_Comm_free(&comm);
}

unsigned long long sent_for_bcast(MPI_Comm comm, const char *algorithm) {
    Control control("coll_bcast_algorithm", comm);
    MPI_T_enum enumeration = MPI_T_ENUM_NULL;
    int index = cvar_index("coll_bcast_algorithm");
    good(MPI_T_cvar_get_info(index, nullptr, nullptr, nullptr, nullptr, &enumeration, nullptr, nullptr,
                             nullptr, nullptr));
    int items = 0, data[1024] = {};
    good(MPI_T_enum_get_info(enumeration, &items, nullptr, nullptr));
    for (int i = 0; i < items; ++i) {
        char name[text_room];
        int length = text_room;
        good(MPI_T_enum_get_item(enumeration, i, nullptr, name, &length));
        if (std::strcmp(name, algorithm) == 0) good(control.write(i));
    }
    Reading<> sent("p2p_messages_sent");
    MPI_Bcast(data, 1024, MPI_INT, 0, comm);
    return sent.value();
}

// A broadcast with another algorithm must send another number of messages.
void another_algorithm_goes_another_way() {
    int rank = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
    if (size == 1) return;
    unsigned long long binomial = sent_for_bcast(MPI_COMM_WORLD, "binomial"),
                       pieces = sent_for_bcast(MPI_COMM_WORLD, "scatter_allgather");
    unsigned long long sums[2], own[2] = {binomial, pieces};
    MPI_Allreduce(own, sums, 2, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    check_equal(sums[0], static_cast<unsigned long long>(size - 1));
    check(sums[1] > sums[0] && (rank > 0 || pieces > 0), "the pieces of a broadcast are not sent");
}

// The library grants only valid thread levels, whatever is requested.
void threads_are_granted() {
    for (int required : {-1, 0, 1, 2, 3, 77, 1 << 20}) {
        int provided = -1;
        good(MPI_T_init_thread(required, &provided));
        bool a_level = false;
        for (int level : {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE})
            a_level |= provided == level;
        check(a_level);
        good(MPI_T_finalize());
    }
}

}  // namespace

int main(int argc, char **argv) {
    refused(MPI_T_cvar_get_num(nullptr), MPI_T_ERR_NOT_INITIALIZED);
    ToolUse in_use;
    walk_over_all();
    texts_are_cut();
    threads_are_granted();
    enumerations();
    before_init();
    MPI_Init(&argc, &argv);
    errors();
    handles_run_out();
    after_init();
    who_may_change();
    algorithms();
    another_algorithm_goes_another_way();
    Control kept("LANYARD_SPIN_US");
    MPI_Finalize();
    check_equal(kept.read<MPI_Count>(), 50);
    refused(Control("LANYARD_PATHS").write_text("self"), MPI_T_ERR_CVAR_SET_NEVER);
    return 0;
}
