// Connects shared-memory paths of several simulated processes in one real process. Each simulated process
// maps the same unnamed memory file separately, as real processes would.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <vector>

#include "conformance/connected.h"
#include "path/shm/shm_path.h"

namespace lanyard::conformance {

class ShmConnected final : public Connected {
public:
    ShmConnected(uint32_t peers, bool direct_copies) {
        int file = memfd_create("lanyard-test", MFD_CLOEXEC);
        for (uint32_t own = 0; own < peers; ++own) {
            segments_.push_back(std::make_unique<Segment>());
            if (own == 0) check(segments_[0]->create(file, peers));
            check(segments_[own]->attach(dup(file)));
        }
        std::vector<uint32_t> numbers(peers);
        for (uint32_t peer = 0; peer < peers; ++peer) numbers[peer] = peer;
        for (uint32_t own = 0; own < peers; ++own) {
            shm_paths_.push_back(std::make_unique<ShmPath>(*segments_[own], own, numbers, direct_copies));
            paths.push_back(shm_paths_.back().get());
        }
        ::close(file);
    }
    Segment &segment() { return *segments_[0]; }

private:
    static void check(Error error) { LANYARD_MUST(!error); }

    std::vector<std::unique_ptr<Segment>> segments_;
    std::vector<std::unique_ptr<ShmPath>> shm_paths_;
};

}  // namespace lanyard::conformance
