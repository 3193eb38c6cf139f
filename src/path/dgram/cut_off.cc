// The datagram path when its endpoint fails for good: a filter of system calls refuses what it needs, or somebody has closed its descriptor. Nobody
// is reached any more then. The failure is noted where it shows, in the middle of anything; the next poll, which comes at once, ends all flows and
// tells of the peers, and so does one after each peer that is met later. Thread rule: as dgram_path.h.
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
                   : "the system refuses this process the calls that send or receive them, as a filter (seccomp) does; allow recvmsg and sendmsg, or "
                     "leave dgram out of LANYARD_PATHS") +
           " (" + system_text(trouble_) + ")";
}

}  // namespace lanyard
