// Context ids (rule 13): 64 bits that name a communicator's traffic everywhere, agreed by nobody and never used again.
//
//   63      62 ........ 40   39           38 ................. 2   1          0
//   derived creator (23)     partitioned  counter (37)             creation   collective (collective_bit, path/envelope.h)
//
// The creator is rank 0 of the new group; it draws the number from its own counter and the number travels in messages
// that making the communicator needs anyway. Bit 0 separates collective traffic, bit 1 the messages that make further
// communicators out of this one; both set: MPI_Comm_create_group, whose tags are the program's. Bit 39: by which partitioned sends and
// receives find each other (p2p/partitioned.cc); a partitioned receive draws a number too, of its own. A derived id is no
// communicator's: it is computed from a string and a group, where there is no communicator to make the first one from.
#pragma once

#include <cstdint>
#include <string_view>

#include "comm/group.h"
#include "path/envelope.h"

namespace lanyard {

constexpr uint64_t creation_bit = 2;
constexpr uint64_t partitioned_bit = uint64_t{1} << 39;
constexpr uint64_t derived_bit = uint64_t{1} << 63;
constexpr uint64_t max_creators = uint64_t{1} << 23;

constexpr uint64_t context_of(uint64_t creator, uint64_t counter) {
    return (creator & (max_creators - 1)) << 40 | (counter & ((uint64_t{1} << 37) - 1)) << 2;
}

// Fixed numbers of the counter: what exists before any message could carry an id.
constexpr uint64_t world_counter = 1, self_counter = 2, first_free_counter = 3;

// The id under which the members of `peers` meet who call MPI_Comm_create_from_group with this tag.
uint64_t derived_context(std::string_view stringtag, const Peers &peers);

}  // namespace lanyard
