// Ends all flows when the endpoint of the datagram path has failed for good. This happens if a filter of
// system calls refuses the calls that the endpoint needs, or if some code has closed the endpoint's
// descriptor. No peer can be reached then. Any use of the endpoint may show the failure, and the caller notes
// it (note_trouble). The next poll, which follows at once, ends all flows and reports the peers as failed.
// After each later contact with a new peer, the next poll reports this peer as failed too. Thread rule: as in
// dgram_path.h.
// Tested by: tests/failures/test_refused_calls.py.
#include "path/dgram/dgram_path.h"

namespace lanyard {

void DgramPath::note_trouble(int trouble) {
    if (!trouble_ && PacketIo::lasts(trouble)) cut_off_ = trouble_ = trouble;
}

void DgramPath::end_all() {
    cut_off_ = 0;
    for (Published<Peer> &peer : peers_) {
        if (!peer || peer->lost) continue;
        peer->flow.end(dgram::FlowEnd::cut_off);
        list(*peer);
    }
}

std::string DgramPath::cut_off_text() const {
    bool closed = trouble_ == EBADF || trouble_ == ENOTSOCK;
    return std::string("is not reached by datagrams any more: ") +
           (closed ? "the program has closed a descriptor of the library's"
                   : "the system refuses this process the calls that send or receive them, as a filter "
                     "(seccomp) does; allow recvmsg and sendmsg, or "
                     "leave dgram out of LANYARD_PATHS") +
           " (" + system_text(trouble_) + ")";
}

}  // namespace lanyard
