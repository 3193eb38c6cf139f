// Implements the path. poll() decides which sockets are read in which order, and the parts of the path do the
// rest. See tcp_path.h.
#include "path/tcp/tcp_path.h"

#include <algorithm>

#include "base/bytes.h"

namespace lanyard {

namespace {
constexpr int most_ready = 32;
}

TcpPath::TcpPath(Sockets &sockets, const WireIdentity &identity, const Processes &processes,
                 const TcpLimits &limits, Routes::Find find, Crc32c crc)
    : NetworkPath({.name = "tcp",
                   .max_eager = limits.max_eager,
                   .max_bulk = crc ? most_checked_bulk : max_bulk_frame,
                   .eager_limit = 192 * KiB,
                   .keep_from = limits.keep_from,
                   .bulk_follows = true,
                   .loses_bulk = true,
                   .descriptor = sockets.descriptor()}),
      identity_(identity), processes_(processes), own_(processes.find(identity.own)),
      links_(sockets, processes.count(), limits, crc), connector_(sockets, identity_, processes, keeper_),
      routes_(sockets, connector_, limits.weigh_from, limits.measure_ns, std::move(find)),
      writer_(links_, connector_, routes_), reader_(links_, writer_),
      keeper_(links_, connector_, routes_, writer_), hot_(sockets, limits.hot_ns) {
    if (crc) identity_.settings |= checksum_setting;
}

TcpPath::~TcpPath() { close(); }

void TcpPath::grow() {
    links_.grow(processes_.count());
    connector_.grow();
}

void TcpPath::close() {
    if (closed_) return;
    closed_ = links_.leaving = true;
    keeper_.close_all();
    connector_.close();
}

Sent TcpPath::send(uint32_t peer, const Envelope &envelope, Payload payload) {
    Link &link = links_.at(peer);
    return link.lost ? Sent::done : writer_.send(link, envelope, std::move(payload));
}

Sent TcpPath::send_kept(uint32_t peer, const Envelope &envelope, const KeptPayload &payload) {
    Link &link = links_.at(peer);
    return link.lost ? Sent::done : writer_.send_kept(link, envelope, payload);
}

void TcpPath::kept_moved(uint32_t peer, uint64_t name, const std::byte *data) {
    links_.at(peer).log.kept_moved(name, data);
}

Sent TcpPath::send_bulk(uint32_t peer, const BulkHeader &header, Payload payload, uint64_t token) {
    Link &link = links_.at(peer);
    return link.lost ? Sent::done : writer_.send_bulk(link, header, std::move(payload), token);
}

void TcpPath::prepare_to_sleep(bool process_sleeps) {
    if (process_sleeps) look_at_ns_ = 0;
    hot_.prepare_to_sleep(process_sleeps);
}

// Queries the kernel for the sockets that are ready, and serves them.
int TcpPath::look(int budget) {
    Sockets::Ready list[most_ready];
    int count = links_.sockets.ready(list, most_ready);
    int work = 0;
    bool greet = connector_.deadline_ns() <= links_.now_ns;
    for (int i = 0; i < count; ++i) {
        if (list[i].token == Connector::token) {
            greet = true;
            continue;
        }
        Link &link = *links_.find(static_cast<uint32_t>(list[i].token));
        Connection &connection = link.connection;
        if (list[i].writable && connection.awaits_room() && connection.is_open()) {
            writer_.write_out(link);
            links_.recount(link);
        }
        if (!list[i].readable || link.heat.hot) continue;
        work += reader_.read_in(link, budget - work);
        if (connection.last_received_ns() == links_.now_ns) hot_.note_arrival(link);
    }
    if (greet) work += connector_.poll();
    return work;
}

int TcpPath::poll(Sink &sink, int budget, uint64_t now_ns) {
    if (closed_) return 0;
    auto read_hot = [&](int left) {
        return hot_.read(left, now_ns, [&](Link &link, int most) { return reader_.read_in(link, most); });
    };
    links_.sink = &sink;
    links_.now_ns = now_ns;
    int work = links_.buffer.owner() ? reader_.take_rest(budget) : 0;
    // If some links used up the last budget, the other links are read first.
    if (!passed_over_) work += read_hot(budget - work);
    looked_ = (now_ns >= look_at_ns_ || passed_over_) && work < budget;
    if (looked_) {
        const TcpLimits &limits = links_.limits;
        look_at_ns_ = now_ns + (hot_.empty() ? limits.look_every_ns
                                             : std::max(limits.look_every_ns, limits.look_beside_hot_ns));
        work += look(budget - work);
    }
    if (passed_over_ && looked_) work += read_hot(budget - work);
    passed_over_ = !looked_ && work >= budget;
    if (work == 0 && writer_.keeps_any()) writer_.copy_kept();
    if (now_ns >= links_.due_at_ns()) keeper_.tend(now_ns);
    if (!links_.reports.empty()) work += links_.reports.tell(sink);
    writer_.flush_all();
    links_.sink = nullptr;
    return work;
}

// The process must not sleep before all sockets have been looked at.
uint64_t TcpPath::deadline_ns() const {
    if (links_.buffer.owner() || !links_.reports.empty()) return 0;
    return std::min({links_.due_at_ns(), connector_.deadline_ns(), looked_ ? no_deadline : look_at_ns_});
}

// Requests an answer on each link with unacknowledged envelopes. One request covers all envelopes sent before
// it.
bool TcpPath::all_acknowledged() {
    bool all = true;
    links_.for_each([&](Link &link) {
        if (link.lost || link.log.empty()) return;
        all = false;
        if (link.answer_asked || !writer_.is_connected(link)) return;
        link.answer_asked = true;
        writer_.answer(link, answer_now);
    });
    return all;
}

void TcpPath::answer_all() {
    links_.for_each([&](Link &link) {
        if (link.connection.is_open() && link.incoming.answer_due_ns() != no_deadline) writer_.answer(link);
    });
}

bool TcpPath::connected_to_all() {
    bool all = true;
    for (uint32_t peer = 0; peer < links_.peers(); ++peer) {
        if (!reaches(peer)) continue;
        Link &link = links_.at(peer);
        if (link.lost || link.was_connected) continue;  // may have been closed as idle
        writer_.is_connected(link);
        all = false;
    }
    return all;
}

std::string TcpPath::describe() const {
    return "tcp: " + std::to_string(links_.peers() - 1) + " processes over TCP, " +
           std::to_string(uint32_t{links_.open}) + " of them connected";
}

}  // namespace lanyard
