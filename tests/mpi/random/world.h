// Defines World, the state of a random sequence of calls on one rank. All ranks draw the same script from the
// seed, so each rank can compute what the other ranks do. For decisions that other ranks need not know, such
// as layouts and the order of waiting, each rank draws from a random generator of its own.
//
// Several threads may run at once, each with its own script and on its own communicators. A rank never waits
// for something that comes later in the script than the place that it has reached. Therefore the rank that is
// furthest behind always gets what it waits for, and no deadlock occurs.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "types.h"

namespace random_calls {

// A communicator and its expected state. Ranks outside the communicator also store this state, but have no
// handle.
struct Comm {
    std::vector<int> members;  // ranks in MPI_COMM_WORLD
    MPI_Comm handle = MPI_COMM_NULL;
    std::map<size_t, long> attributes;  // by the index of the key in World::keys

    int size() const { return static_cast<int>(members.size()); }
};

// A collective operation that continues while other actions run.
struct Ongoing {
    MPI_Request request = MPI_REQUEST_NULL;
    std::vector<std::unique_ptr<Area>> areas;
    int starts_left = 0;  // number of further starts of a persistent operation
    bool restarted = false;
    std::function<void()> fill, check;
    // Counts and displacements. They must exist as long as the operation.
    std::vector<std::vector<int>> numbers;
    std::vector<std::vector<MPI_Aint>> addresses;
    std::vector<std::vector<MPI_Datatype>> types;
    std::vector<TypePointer> kept;
};

struct World {
    // Begins a sequence on duplicates of `parent`, which contains all ranks. If there are several threads,
    // each has its own parent.
    World(uint64_t seed, MPI_Comm parent, MPI_Errhandler handler);
    ~World();

    // Returns the rank of this process in the communicator, or -1.
    int place_in(const Comm &comm) const;
    // Draws a communicator of the list from the script.
    Comm &any_comm() { return script.pick(comms); }

    uint64_t seed;
    int rank, size;
    Random script, own;
    std::vector<Comm> comms;
    std::list<std::unique_ptr<Ongoing>> ongoing;
    // Keyvals. When a communicator is duplicated, the value of the first key is dropped, the value of the
    // second key is copied, and the value of the third key is copied and incremented.
    std::vector<int> keys;
    MPI_Errhandler handler;
    bool alone = true;  // no other thread runs a sequence
};

// The action that this thread performs, for messages about failures.
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

// Completes all requests, which must be active, with functions that complete several requests. Draws a
// function for each call.
void complete_by_any(Random &random, std::vector<MPI_Request> &requests,
                     const std::function<void(size_t, const MPI_Status &)> &done);

// finish_one() completes a random one of the collective operations under way. finish_all() completes all of
// them.
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
// Draws a form and, for a persistent operation, the number of its starts.
Form draw_form(World &world, Ongoing &ongoing);
// Must be called after begin(). Checks a finished operation, starts a persistent one, and stores an operation
// that continues.
void go_on(World &world, std::unique_ptr<Ongoing> ongoing, Form form);

}  // namespace random_calls
