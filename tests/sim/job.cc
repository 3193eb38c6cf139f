// Creates the ranks of a simulated job and the paths between them. See job.h.
#include "sim/job.h"

#include "coll/shm/node_area.h"

namespace lanyard::sim {

namespace {

template <class Queue>
std::string entries(const char *what, Queue &queue) {
    std::string text;
    for (auto *entry = queue.first(); entry; entry = queue.after(*entry))
        text += std::string(what) + "(context " + std::to_string(entry->context) + ", rank " +
                std::to_string(entry->rank) + ", tag " + std::to_string(entry->tag) + ")";
    return text;
}

}  // namespace

bool SimMemory::allocate(size_t bytes, uint64_t &offset) {
    if (in_use >= most) return false;
    ++in_use;
    areas_.push_back(std::make_unique<Line[]>(bytes / sizeof(Line) + 1));
    offset = areas_.size() - 1;
    return true;
}

SimLinks::SimLinks(Baton &baton, const SocketBehaviour &behaviour, const TcpLimits &limits,
                   const std::vector<Member> &members, Crc32c crc)
    : internet(baton, behaviour), ports_(members.size()) {
    WireIdentity identity;
    for (uint32_t own = 0; own < members.size(); ++own) {
        const Processes &known = *members[own].known;
        auto find = [this, &known](uint32_t peer, std::vector<Address> &list) {
            auto host = static_cast<uint32_t>(known.name(peer).serial());
            for (const Address &address : internet.addresses_of(host))
                list.push_back(address.with_port(ports_[host]));
            return Error();
        };
        identity.own = members[own].name;
        sockets_.push_back(std::make_unique<SimSockets>(internet, own));
        paths_.push_back(std::make_unique<TcpPath>(*sockets_[own], identity, known, limits, find, crc));
        if (Error error = paths_[own]->listen(internet.addresses_of(own), 0, 0, ports_[own])) {
            std::fprintf(stderr, "%s\n", error.take().sentence.c_str());
            std::abort();
        }
    }
}

Crc32c loaded_crc() {
    Crc32c crc;
    if (Error error = Crc32c::load(crc)) {
        std::fprintf(stderr, "%s\n", error.take().sentence.c_str());
        std::abort();
    }
    return crc;
}

Rank::Rank(Job &j, uint32_t number)
    : job(j),
      own(number),
      idle(job.baton),
      engine(idle),
      messenger(engine, job.shape.settings, own, job.shape.ranks),
      self_path(own),
      path(job.path(own)),
      reach(job.baton, job.threads),
      executor(messenger, &reach),
      universe(messenger, job.shape.settings, job.processes, own),
      credit(messenger.endpoint().peers[0].credit_left) {
    engine.add_path(self_path);
    engine.add_path(path);
    Peers world;
    for (uint32_t peer = 0; peer < job.shape.ranks; ++peer) {
        messenger.route(peer, peer == own ? static_cast<Path &>(self_path) : path);
        world.push_back(peer);
    }
    if (job.shape.ranks_per_node > 1 || !job.shape.node_of_rank.empty()) universe.node_memory = &job.memory;
    universe.direct_reads = job.shape.direct_reads;
    universe.executor = &executor;
    if (Error error = make_predefined(universe, std::move(world), job.world_area, job.world_area_bytes)) {
        std::fprintf(stderr, "%s\n", error.take().sentence.c_str());
        std::abort();
    }
}

Rank::~Rank() { free_predefined(universe); }

std::string Rank::waits_for() {
    const MessageCounts &counts = messenger.counts();
    return entries(" receive", messenger.posted()) + entries(" stored", messenger.unexpected()) +
           (messenger.nothing_pending() ? " nothing under way" : " transfers under way") + ", sent " +
           std::to_string(counts.sent) + ", matched " + std::to_string(counts.matched);
}

void Rank::finish() {
    EngineGuard guard(engine);
    auto all_done = [](const void *subject) {
        auto &rank = *static_cast<const Rank *>(subject);
        return rank.messenger.nothing_pending() && rank.path.all_acknowledged();
    };
    engine.wait_owned(Condition{all_done, this});
    if (++job.finished == job.shape.ranks) {
        for (uint32_t thread : job.threads) job.baton.notify(thread);
        if (job.datagrams) job.datagrams->end();
    }
    auto all_finished = [](const void *subject) {
        auto &rank = *static_cast<const Rank *>(subject);
        // packets sent after this moment are not waited for: every rank has finished
        return rank.job.finished == rank.job.shape.ranks;
    };
    engine.wait_owned(Condition{all_finished, this});
}

Job::Job(Baton &b, const Behaviour &behaviour, const JobShape &s, std::string name)
    : baton(b),
      shape(s),
      network(baton, behaviour, shape.ranks),
      threads(shape.ranks, UINT32_MAX),
      name_(std::move(name)) {
    if (shape.ranks > 1 && shape.ranks_per_node >= shape.ranks) {
        uint64_t offset;
        world_area_bytes = node_area_bytes(static_cast<int>(shape.ranks));
        if (world_area_bytes && memory.allocate(world_area_bytes, offset))
            world_area = memory.open(offset, world_area_bytes);
        memory.in_use = 0;
    }
    for (uint32_t peer = 0; peer < shape.ranks; ++peer)
        processes.append({0, peer},
                         shape.node_of_rank.empty() ? peer / shape.ranks_per_node : shape.node_of_rank[peer]);
    Crc32c crc = shape.checks ? loaded_crc() : Crc32c();
    if (shape.over_sockets)
        links =
            std::make_unique<SimLinks>(baton, *shape.over_sockets, shape.limits, members_of(processes), crc);
    if (shape.over_packets)
        datagrams = std::make_unique<SimDatagrams>(baton, *shape.over_packets, shape.dgram_limits,
                                                   members_of(processes));
    for (uint32_t own = 0; own < shape.ranks; ++own) ranks_.push_back(std::make_unique<Rank>(*this, own));
}

Path &Job::path(uint32_t own) {
    if (links) return links->path(own);
    if (datagrams) return datagrams->path(own);
    return network.path(own);
}

void Job::each(const std::function<void(Rank &)> &body) {
    for (uint32_t own = 0; own < shape.ranks; ++own) {
        Rank &rank = *ranks_[own];
        threads[own] = baton.add(
            name_ + " " + std::to_string(own), [&rank, body] { body(rank); },
            [&rank] { return rank.waits_for(); });
        network.drives(own, threads[own]);
        if (links) links->internet.drives(own, threads[own]);
        if (datagrams) datagrams->drives(own, threads[own]);
    }
    if (datagrams) datagrams->add_thread(name_ + "s' network");
}

}  // namespace lanyard::sim
