// Completes requests: those of the point-to-point messages of one action, and those of collective operations
// that continue while other actions run (world.h).
#include "world.h"

namespace random_calls {

void complete_by_any(Random &random, std::vector<MPI_Request> &requests,
                     const std::function<void(size_t, const MPI_Status &)> &done) {
    int count = static_cast<int>(requests.size());
    std::vector<MPI_Status> statuses(requests.size());
    std::vector<int> indices(requests.size());
    std::vector<bool> active(requests.size(), true);
    int left = count;
    auto finished = [&](int index, const MPI_Status &status) {
        check(index >= 0 && index < count && active[static_cast<size_t>(index)],
              "a request is complete that was not active");
        active[static_cast<size_t>(index)] = false;
        --left;
        done(static_cast<size_t>(index), status);
    };
    auto all_finished = [&] {
        for (int i = 0; i < count; ++i)
            if (active[static_cast<size_t>(i)]) finished(i, statuses[static_cast<size_t>(i)]);
    };
    while (left > 0) {
        int index = -1, flag = 0, some = 0;
        switch (random.below(20)) {
        case 0: MPI_Waitall(count, requests.data(), statuses.data()); all_finished(); break;
        case 1: case 2: case 3:
            MPI_Waitany(count, requests.data(), &index, statuses.data());
            finished(index, statuses[0]);
            break;
        case 4: case 5: case 6:
            MPI_Waitsome(count, requests.data(), &some, indices.data(), statuses.data());
            break;
        case 7: case 8: case 9:
            MPI_Testsome(count, requests.data(), &some, indices.data(), statuses.data());
            break;
        case 10: case 11: case 12:
            MPI_Testall(count, requests.data(), &flag, statuses.data());
            if (flag) all_finished();
            break;
        default:
            MPI_Testany(count, requests.data(), &index, &flag, statuses.data());
            if (flag) finished(index, statuses[0]);
        }
        check(some >= 0, "there is an active request, and a function that completes some found none");
        for (int i = 0; i < some; ++i)
            finished(indices[static_cast<size_t>(i)], statuses[static_cast<size_t>(i)]);
    }
}

Form draw_form(World &world, Ongoing &ongoing) {
    Form form = static_cast<Form>(world.script.below(3));
    ongoing.starts_left = form == Form::again ? between(world.script, 1, 3) : 0;
    return form;
}

namespace {

// Starts a persistent operation with its next contents.
void start(Ongoing &ongoing) {
    --ongoing.starts_left;
    ongoing.fill();
    MPI_Start(&ongoing.request);
}

// Handles an operation that is complete. Returns true if this was its last run.
bool settle(Ongoing &ongoing) {
    ongoing.check();
    if (ongoing.starts_left > 0) {
        start(ongoing);
        ongoing.restarted = true;
        return false;
    }
    if (ongoing.request != MPI_REQUEST_NULL) MPI_Request_free(&ongoing.request);
    return true;
}

}  // namespace

void go_on(World &world, std::unique_ptr<Ongoing> ongoing, Form form) {
    if (form == Form::now) return ongoing->check();
    if (form == Form::again) start(*ongoing);
    world.ongoing.push_back(std::move(ongoing));
    if (world.ongoing.size() > 8) finish_one(world);
}

void finish_one(World &world) {
    if (world.ongoing.empty()) return;
    std::vector<MPI_Request> requests;
    // A blocking call must not wait for a restarted operation, because each other rank restarts it at a time
    // of its own.
    bool wait = world.own.chance(50);
    for (auto &one : world.ongoing)
        requests.push_back(wait && one->restarted ? MPI_REQUEST_NULL : one->request);
    int index = MPI_UNDEFINED, flag = 1, count = static_cast<int>(requests.size());
    if (wait) MPI_Waitany(count, requests.data(), &index, MPI_STATUS_IGNORE);
    else MPI_Testany(count, requests.data(), &index, &flag, MPI_STATUS_IGNORE);
    if (!flag || index == MPI_UNDEFINED) return;
    auto place = std::next(world.ongoing.begin(), index);
    (*place)->request = requests[static_cast<size_t>(index)];
    if (settle(**place)) world.ongoing.erase(place);
}

void finish_all(World &world) {
    while (!world.ongoing.empty()) finish_one(world);
}

}  // namespace random_calls
