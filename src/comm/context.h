// Context ids: 64 bits that identify a communicator's traffic everywhere. They need no agreement and are
// never reused.
//
//   63      62 ........ 40   39           38 ................. 2   1          0
//   derived creator (23)     partitioned  counter (37)             creation   collective
//
// The creator is rank 0 of the new group. It takes the number from its own counter, and the id travels in
// messages that creating the communicator needs anyway. The creator is identified by its serial, job + number
// (base/processes.h). The jobs of one launcher therefore share these 23 bits as they need them: eight million
// processes in one job, or one process in each of eight million jobs. A separate field for the job would
// limit either of these numbers, or the counter. A counter of 37 bits lasts for eight days of nothing but
// creating communicators, at 5 us each; one of 25 bits would last three minutes.
//
// Bit 0 (collective_bit, path/envelope.h) separates collective traffic. Bit 1 marks the messages that create
// further communicators from this one. Both bits together mark those of MPI_Comm_create_group, whose tags are
// the program's. Bit 39 marks the messages by which partitioned sends and receives find each other
// (p2p/partitioned.cc). A partitioned receive also takes a number of its own from the counter.
//
// A derived id (bit 63) is a hash. It is used where serial or counter exceed their fields, for a communicator
// with members of jobs that different launchers have started (their serials mean different processes), and
// where there is no communicator from which to create the first one. In the last case it is computed from a
// string and a group. Among a million derived ids that exist at one time, two are equal with a probability of
// one in two million.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/processes.h"
#include "comm/group.h"
#include "path/envelope.h"

namespace lanyard {

constexpr uint64_t creation_bit = 2;
constexpr uint64_t partitioned_bit = uint64_t{1} << 39;
constexpr uint64_t derived_bit = uint64_t{1} << 63;
constexpr uint32_t max_creators = 1 << 23;
constexpr uint64_t max_counter = uint64_t{1} << 37;

// The id of a communicator that `creator` creates with members of another launcher's job. `jobs`: a string
// that only members of the two jobs have, the same on both sides. No function creates such communicators yet;
// context_of passes "" for creators and counters beyond their fields.
uint64_t derived_context(std::string_view jobs, ProcessName creator, uint64_t counter);

constexpr uint64_t context_of(ProcessName creator, uint64_t counter) {
    uint64_t serial = creator.serial();
    if (serial >= max_creators || counter >= max_counter) [[unlikely]]
        return derived_context("", creator, counter);
    return serial << 40 | counter << 2;
}

// Fixed numbers of the counter, for communicators that exist before any message could carry an id.
constexpr uint64_t world_counter = 1, self_counter = 2, first_free_counter = 3;

// The id of the messages among the members of `peers` that call MPI_Comm_create_from_group with this tag.
uint64_t derived_context(std::string_view stringtag, const Processes &processes, const Peers &peers);

}  // namespace lanyard
