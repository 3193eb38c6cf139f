// Computes context ids. A context id has 64 bits and identifies a communicator's traffic everywhere. Context
// ids need no agreement among processes and are never reused.
//
//   63      62 ........ 40   39           38 ................. 2   1          0
//   derived creator (23)     partitioned  counter (37)             creation   collective
//
// The creator is one member of the new communicator, usually its rank 0. It takes a number from its own
// counter, and the id travels in messages that are needed anyway to create the communicator. The field for
// the creator contains its serial, which is the serial of the job's first process plus its own number in the
// job (base/processes.h). The jobs of one launcher therefore share these 23 bits as they need them: there may
// be eight million processes in one job, or one process in each of eight million jobs. A separate field for
// the job would leave too few bits for one of the fields. A process that does nothing but create
// communicators, at 5 us each, uses up a counter of 37 bits in eight days. It would use up 25 bits in three
// minutes.
//
// Bit 0 (collective_bit, path/envelope.h) marks collective traffic. Bit 1 marks the messages that create
// further communicators from this one. Both bits together mark the messages of MPI_Comm_create_group and of
// the leaders in MPI_Intercomm_create, whose tags the program chooses. Bit 39 marks the messages by which
// partitioned sends and receives find each other (p2p/partitioned.cc). A partitioned receive also takes a
// number of its own from the counter.
//
// A derived id (bit 63) is a hash. It is used if the serial or the counter exceeds its field. It is also
// meant for members that belong to jobs of different launchers, in which one serial stands for different
// processes; no function creates such communicators yet. If no communicator exists from which to create the
// new one, the messages that create it have a derived id, which is computed from a string and a group. If a
// million derived ids exist at one time, two of them are equal with a probability of one in two million.
// Tested by: tests/unit/comm/create_test.cc, tests/sim/processes_test.cc.
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
// that only members of the two jobs have, the same on both sides.
// context_of() uses this function with an empty string if the serial or the counter exceeds its field.
uint64_t derived_context(std::string_view jobs, ProcessName creator, uint64_t counter);

constexpr uint64_t context_of(ProcessName creator, uint64_t counter) {
    uint64_t serial = creator.serial();
    if (serial >= max_creators || counter >= max_counter) [[unlikely]]
        return derived_context("", creator, counter);
    return serial << 40 | counter << 2;
}

// Values of the counter that are reserved for communicators which exist before any message could carry an id.
constexpr uint64_t world_counter = 1, self_counter = 2, first_free_counter = 3;

// The id of the messages by which `peers` create a communicator when they call MPI_Comm_create_from_group or
// MPI_Intercomm_create_from_groups with this string tag.
uint64_t derived_context(std::string_view stringtag, const Processes &processes, const Peers &peers);

}  // namespace lanyard
