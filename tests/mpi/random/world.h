// What a random sequence of calls is made of, and what every rank knows while it runs: one script, drawn from the seed by all ranks
// alike, so that each knows what every other one does; and draws of its own, for what others need not know (layouts, orders of waiting).
//
// Several threads may play at once, each its own script on communicators of its own.
// Nothing waits for what comes later in the script: of the ranks that wait, the one that is least far always gets what it waits for.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "types.h"

namespace random_calls {

// A communicator and what it must be. Ranks outside know it too, without a handle.
struct Comm {
    std::vector<int> members;  // ranks of the world
    MPI_Comm handle = MPI_COMM_NULL;
    std::map<size_t, long> attributes;  // by number of the key

    int size() const { return static_cast<int>(members.size()); }
};

// A collective operation that goes on beside the script.
struct Ongoing {
    MPI_Request request = MPI_REQUEST_NULL;
    std::vector<std::unique_ptr<Area>> areas;
    int starts_left = 0;  // of a persistent one
    bool restarted = false;
    std::function<void()> fill, check;
    std::vector<std::vector<int>> numbers;  // counts and displacements, which must stay while it goes on
    std::vector<std::vector<MPI_Aint>> addresses;
    std::vector<std::vector<MPI_Datatype>> types;
    std::vector<TypePointer> kept;
};

struct World {
    // Of a sequence on duplicates of `parent`, which has all ranks; a thread of several has its own.
    World(uint64_t seed, MPI_Comm parent, MPI_Errhandler handler);
    ~World();

    // Position of this process in the communicator, or -1.
    int place_in(const Comm &comm) const;
    // Drawn from the script: a communicator of the list.
    Comm &any_comm() { return script.pick(comms); }

    uint64_t seed;
    int rank, size;
    Random script, own;
    std::vector<Comm> comms;
    std::list<std::unique_ptr<Ongoing>> ongoing;
    std::vector<int> keys;  // keyvals; what becomes of each when a communicator is duplicated: lost, kept, one more
    MPI_Errhandler handler;
    bool alone = true;  // no other thread plays
};

// Where this thread is, for what is said of a failure.
struct Where {
    int thread = 0, action = 0;
    const char *name = "";
};
extern thread_local Where where;

// The actions. Each draws from the script, and does this rank's part.
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

// Completes all requests, which are active, by the functions that complete several: drawn anew for each call.
void complete_by_any(Random &random, std::vector<MPI_Request> &requests, const std::function<void(size_t, const MPI_Status &)> &done);

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
// Draws a form and how often a persistent operation is started.
Form draw_form(World &world, Ongoing &ongoing);
// After begin(): checks what is done, starts what is persistent, and keeps what goes on.
void go_on(World &world, std::unique_ptr<Ongoing> ongoing, Form form);

}  // namespace random_calls
