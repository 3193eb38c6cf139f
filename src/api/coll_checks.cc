// Builds the error messages about arguments of collective operations that contradict each other. These
// functions are the rarely executed halves of the checks in coll_checks.h.
#include "api/coll_checks.h"

#include <string>

#include "api/door.h"

namespace lanyard::plans {

Error in_place_beside_root() {
    return Error(ErrorClass::buffer, "sendbuf is MPI_IN_PLACE, which only the root may give here");
}

Error scan_between_groups() {
    return Error(ErrorClass::comm, "the communicator is an intercommunicator, on which there is no scan");
}

Error unequal_own_blocks(int64_t sends, int64_t gets) {
    return Error(ErrorClass::count, "what this rank sends to itself has " + std::to_string(sends) +
                                        " bytes, but what it receives from itself has " +
                                        std::to_string(gets) +
                                        "; counts are those of one block, and must fit at both ends");
}

Error refuse_shared_memory(const void *sent, int64_t sent_bytes, const void *received, int64_t received_bytes,
                           bool whole, Instead instead) {
    if (!whole || sent_bytes <= 0 || received_bytes <= 0 || in_place(sent) || in_place(received)) return {};
    switch (instead) {
        case Instead::sendbuf:
            return Error(ErrorClass::buffer,
                         "sendbuf and recvbuf share memory; give MPI_IN_PLACE as sendbuf instead");
        case Instead::recvbuf:
            return Error(ErrorClass::buffer,
                         "sendbuf and recvbuf share memory; give MPI_IN_PLACE as recvbuf instead");
        case Instead::inbuf:
            return Error(ErrorClass::buffer,
                         "inbuf and inoutbuf share memory; give other memory as one of them");
        case Instead::none:
            break;
    }
    return Error(ErrorClass::buffer, "sendbuf and recvbuf share memory; give other memory as one of them");
}

Error look_closely(const Comm &comm, const void *sendbuf, int64_t sendcount, const Datatype *sendtype,
                   int64_t sent_blocks, const void *recvbuf, int64_t recvcount, const Datatype *recvtype,
                   int64_t received_blocks, Instead instead) {
    Side sent{sendbuf, sendcount, sendtype, sent_blocks},
        received{recvbuf, recvcount, recvtype, received_blocks};
    // on an intercommunicator, no rank sends a block to itself
    if (comm.remote_group) return check_apart(sent, received, Instead::none);
    int64_t sends = sent.block_bytes(), gets = received.block_bytes();
    return sends == gets ? check_apart(sent, received, instead) : unequal_own_blocks(sends, gets);
}

Error check_undefined_op(const Op &op, const Datatype &type) {
    return accepted_on(op, type) && !keeps_to_standard() ? Error() : refuse_op(op, type, false);
}

}  // namespace lanyard::plans
