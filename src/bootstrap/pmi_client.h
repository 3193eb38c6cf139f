// The client side of PMI-1: text lines "cmd=... key=value ..." over the socket the launcher left open (PMI_FD).
// Used by bootstrap.cc alone. Thread rule: bootstrap.h. Each request has exactly one answer.
#pragma once

#include <memory>

#include "bootstrap/bootstrap.h"
#include "bootstrap/origin.h"

namespace lanyard {

// Speaks the opening of the protocol on `fd` and learns the identity. On error returns nullptr and sets
// `error`. `seat`: the connection is named so, as those of this library's mpirun are.
std::unique_ptr<Bootstrap> connect_pmi1(int fd, int rank, int size, Error &error, const Seat *seat = nullptr);

}  // namespace lanyard
