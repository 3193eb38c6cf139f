// PolledPaths polls the paths of the engine, in the order in which they were added, and combines what they
// report. Some paths are polled by a system call, which is not made in every turn.
// Thread rule: the owner of the engine.
// Tested by: tests/unit/engine/progress_test.cc.
#pragma once

#include <algorithm>
#include <vector>

#include "path/path.h"

namespace lanyard {

class PolledPaths {
public:
    // The caller owns the path, which must live as long as it is polled.
    void add(Path &path) {
        paths_.push_back(polled(path));
        any_sockets_ |= paths_.back().by_system_call;
    }
    // Requires that nothing is under way on the old path. If the new path is polled by system calls, some
    // path must have been so before.
    void replace(const Path &old, Path &path) {
        for (Polled &each : paths_)
            if (each.path == &old) each = polled(path);
    }

    // Polls each path, for at most `frames` frames. Returns the work done. `system_calls`: also poll the
    // paths that need a system call. `sink` may be null only if there are no paths.
    int poll(Sink *sink, int frames, uint64_t now_ns, bool system_calls) {
        int work = 0;
        for (const Polled &each : paths_)
            if (system_calls || !each.by_system_call) work += each.path->poll(*sink, frames, now_ns);
        return work;
    }
    // Is any path polled by system calls?
    bool any_sockets() const { return any_sockets_; }
    // Does `says` hold for the PathActivity (path.h) of any path that is polled by system calls?
    bool any(bool (*says)(const PathActivity &)) const {
        if (!any_sockets_) return false;
        return std::ranges::any_of(paths_, [says](const Polled &each) {
            return each.by_system_call && says(each.path->activity());
        });
    }
    // The next two functions combine what the paths report (PathActivity, Path::deadline_ns).
    bool prefer_sleep() const {
        return any([](const PathActivity &activity) { return activity.prefers_sleep; });
    }
    uint64_t deadline_ns() const {
        uint64_t earliest = no_deadline;
        for (const Polled &each : paths_) earliest = std::min(earliest, each.path->deadline_ns());
        return earliest;
    }
    void prepare_to_sleep(bool process_sleeps) {
        for (const Polled &each : paths_) each.path->prepare_to_sleep(process_sleeps);
    }

    // any_batches(): does any path batch? batch(true): paths that batch may hold back what is sent.
    // batch(false): they send what they hold back.
    bool any_batches() const {
        return std::ranges::any_of(paths_, [](const Polled &each) { return each.path->info.batches; });
    }
    void batch(bool on) {
        for (const Polled &each : paths_) {
            if (!each.path->info.batches) continue;
            if (on) each.path->more_follows();
            else each.path->flush();
        }
    }

private:
    struct Polled {
        Path *path;
        bool by_system_call;
    };
    static Polled polled(Path &path) { return {&path, path.info.descriptor >= 0}; }

    std::vector<Polled> paths_;
    bool any_sockets_ = false;
};

}  // namespace lanyard
