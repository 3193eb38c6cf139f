// Context ids: 64 bits that name a communicator's traffic everywhere, agreed by nobody and never used again.
//
//   63      62 ........ 40   39           38 ................. 2   1          0
//   derived creator (23)     partitioned  counter (37)             creation   collective (collective_bit, path/envelope.h)
//
// The creator is rank 0 of the new group; it draws the number from its own counter and the number travels in messages
// that making the communicator needs anyway. It is named by its serial, job + number (base/processes.h), so the jobs of one launcher share these 23
// bits as they need them: eight million processes in one job, or one in each of eight million jobs. A field for the job of its own would limit both,
// or the counter: 37 bits are eight days of nothing but making communicators, at 5 us each; 25 would be three minutes. What is beyond either is named
// by a derived id, as is a communicator with members of jobs that different launchers have started, whose serials mean different processes.
// Bit 0 separates collective traffic, bit 1 the messages that make further
// communicators out of this one; both set: MPI_Comm_create_group, whose tags are the program's. Bit 39: by which partitioned sends and
// receives find each other (p2p/partitioned.cc); a partitioned receive draws a number too, of its own. A derived id is no
// communicator's of the usual kind: it is computed, from a string and a group where there is no communicator to make the first one from, or from
// the names of two jobs. Of a million of these that live at one time two are the same by a chance of one in two million.
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

// The id under which a communicator is known that a process of `job` makes with members of another launcher's job. `jobs`: what only members of
// the two know, the same on both sides.
uint64_t derived_context(std::string_view jobs, ProcessName creator, uint64_t counter);

constexpr uint64_t context_of(ProcessName creator, uint64_t counter) {
    uint64_t serial = creator.serial();
    if (serial >= max_creators || counter >= max_counter) [[unlikely]] return derived_context("", creator, counter);
    return serial << 40 | counter << 2;
}

// Fixed numbers of the counter: what exists before any message could carry an id.
constexpr uint64_t world_counter = 1, self_counter = 2, first_free_counter = 3;

// The id under which the members of `peers` meet who call MPI_Comm_create_from_group with this tag.
uint64_t derived_context(std::string_view stringtag, const Processes &processes, const Peers &peers);

}  // namespace lanyard
