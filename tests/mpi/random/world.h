// The state of a random sequence of calls on each rank. All ranks draw the same script from the seed, so that
// each rank knows what every other one does. Each rank also makes draws of its own for what the others need
// not know, such as layouts and the order of waiting.
//
// Several threads may run at once, each with its own script and on its own communicators. No rank waits for
// anything that comes later in the script, so the rank that is least far always gets what it waits for.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "types.h"

namespace random_calls {

// A communicator and its expected state. Ranks outside the communicator know it as well, without a handle.
struct Comm {
    std::vector<int> members;  // ranks in MPI_COMM_WORLD
    MPI_Comm handle = MPI_COMM_NULL;
    std::map<size_t, long> attributes;  // by number of the key

    int size() const { return static_cast<int>(members.size()); }
};

// A collective operation that continues beside the script.
struct Ongoing {
    MPI_Request request = MPI_REQUEST_NULL;
    std::vector<std::unique_ptr<Area>> areas;
    int starts_left = 0;  // of a persistent operation
    bool restarted = false;
    std::function<void()> fill, check;
    // Counts and displacements, which must live as long as the operation
    std::vector<std::vector<int>> numbers;
    std::vector<std::vector<MPI_Aint>> addresses;
    std::vector<std::vector<MPI_Datatype>> types;
    std::vector<TypePointer> kept;
};

struct World {
    // For a sequence on duplicates of `parent`, which contains all ranks. If there are several threads, each
    // has its own parent.
    World(uint64_t seed, MPI_Comm parent, MPI_Errhandler handler);
    ~World();

    // The rank of this process in the communicator, or -1.
    int place_in(const Comm &comm) const;
    // A communicator of the list, drawn from the script.
    Comm &any_comm() { return script.pick(comms); }

    uint64_t seed;
    int rank, size;
    Random script, own;
    std::vector<Comm> comms;
    std::list<std::unique_ptr<Ongoing>> ongoing;
    // Keyvals. When a communicator is duplicated, the value of the first is dropped, that of the second is
    // copied, and that of the third is copied and incremented.
    std::vector<int> keys;
    MPI_Errhandler handler;
    bool alone = true;  // no other thread runs a sequence
};

// The position of this thread, for messages about failures.
struct Where {
    int thread = 0, action = 0;
    const char *name = "";
};
extern thread_local Where where;

// The actions. Each draws from the script and performs this rank's part.
void make_communicator(World &world);
void free_communicator(World &world, size_t number);
void change_attribute(World &world);
void exchange_messages(World &world);
void move_collectively(World &world);
void reduce_collectively(World &world);
void talk_to_neighbors(World &world);
void compute_groups(World &world);
void change_infos(World &world);
void pack_and_unpack(World &world);
void make_errors(World &world);

// Completes all requests, which are active, with the functions that complete several. Draws a function for
// each call.
void complete_by_any(Random &random, std::vector<MPI_Request> &requests,
                     const std::function<void(size_t, const MPI_Status &)> &done);

// Completes collective operations under way: one at random, or all.
void finish_one(World &world);
void finish_all(World &world);

enum class Form { now, later, again };
// Begins a collective operation in one of its three forms.
template <class Now, class Later, class Again, class... Arguments>
void begin(Form form, Ongoing &ongoing, Now now, Later later, Again again, Arguments... arguments) {
    if (form == Form::now) now(arguments...);
    if (form == Form::later) later(arguments..., &ongoing.request);
    if (form == Form::again) again(arguments..., MPI_INFO_NULL, &ongoing.request);
}
// Draws a form, and how often a persistent operation is started.
Form draw_form(World &world, Ongoing &ongoing);
// After begin(): checks a finished operation, starts a persistent one, and stores operations that continue.
void go_on(World &world, std::unique_ptr<Ongoing> ongoing, Form form);

}  // namespace random_calls
