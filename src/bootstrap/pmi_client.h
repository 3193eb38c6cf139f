// Implements the client side of PMI-1: text lines "cmd=... key=value ..." over the socket that the launcher
// left open (PMI_FD). Only bootstrap.cc uses this header. Each request except abort has exactly one answer.
// Thread rule: that of bootstrap.h.
// Tested by: tests/fuzz/pmi_client.cc, tests/unit/bootstrap/pmi_client_test.cc, tests/launch/test_pmi.py.
#pragma once

#include <memory>

#include "bootstrap/bootstrap.h"
#include "bootstrap/origin.h"

namespace lanyard {

// Performs the opening of the protocol on `fd` and reads the identity. Takes ownership of `fd`. On error
// closes `fd`, returns nullptr and sets `error`. `seat` is what the connection's name states if the launcher
// is this library's mpirun; otherwise nullptr.
std::unique_ptr<Bootstrap> connect_pmi1(int fd, int rank, int size, Error &error, const Seat *seat = nullptr);

}  // namespace lanyard
