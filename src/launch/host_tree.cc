// Starts and commands one process's part of the tree of hosts. See host_tree.h.
#include "launch/host_tree.h"

#include <algorithm>

namespace lanyard::launch {

namespace {

size_t remote_count(const Assignment &job) {
    return std::min(job.below.size(), static_cast<size_t>(job.plan.fan_out));
}

}  // namespace

HostTree::HostTree(Loop &loop, const Assignment &job, const Surroundings &surroundings, const Owner &owner)
    : report_(owner.report),
      pmi_(loop, job.plan.placement, job.job, neighbours(owner.at_top, remote_count(job)),
           [this, &owner_streams = owner.streams](const Abort &abort) {
               owner_streams.catch_up();  // first passes on what the rank printed before it called MPI_Abort
               report_(make_frame(Kind::aborted, abort));
           }) {
    if (job.plan.placement.own >= 0) {
        Local local{job.plan, job.job, surroundings.environment, pmi_,
                    owner.streams, owner.input, !owner.at_top};
        hosts_.push_back(std::make_unique<LocalHost>(loop, surroundings, local,
                                                     [this](const Frame &frame) { on_report(frame); }));
    }
    add_remote_hosts(loop, job, surroundings);
}

// Creates the remote hosts. Each of them gets an equal share of the other hosts to start, in their order.
void HostTree::add_remote_hosts(Loop &loop, const Assignment &job, const Surroundings &surroundings) {
    size_t count = remote_count(job);
    for (size_t i = 0; i < count; ++i) {
        auto first = job.below.begin() + static_cast<long>(i * job.below.size() / count);
        auto end = job.below.begin() + static_cast<long>((i + 1) * job.below.size() / count);
        auto report = [this, i](const Frame &frame) { on_remote_report(i, frame); };
        auto remote =
            std::make_unique<RemoteHost>(loop, job, std::vector<int>(first, end),
                                         surroundings.own_environment, surroundings.inherited, report);
        remote_.push_back(remote.get());
        hosts_.push_back(std::move(remote));
    }
}

PmiServer::Neighbours HostTree::neighbours(bool at_top, size_t remote_hosts) {
    PmiServer::Neighbours neighbours;
    neighbours.remote_hosts = remote_hosts;
    neighbours.below = [this](size_t remote, const Frame &frame) { remote_[remote]->command(frame); };
    if (!at_top) neighbours.above = [this](const Frame &frame) { report_(frame); };
    return neighbours;
}

void HostTree::prepare() {
    for (auto &host : hosts_) host->prepare();
}

void HostTree::command(const Frame &frame) {
    Values published;
    Answer answer;
    Stream stream;
    switch (frame.kind) {
        case Kind::end: pmi_.job_ends(); [[fallthrough]];
        case Kind::start: case Kind::signal: case Kind::ask_waits:
            for (auto &host : hosts_) host->command(frame);
            break;
        case Kind::release:
            if (read_frame(frame, published)) pmi_.release(published);
            break;
        case Kind::answer:
            if (read_frame(frame, answer)) pmi_.answered(answer);
            break;
        case Kind::output_credit: case Kind::output_closed: case Kind::input:
            if (!read_frame(frame, stream)) break;
            for (RemoteHost *remote : remote_)
                if (remote->leads_to(stream.node)) remote->command(frame);
            break;
        default: break;
    }
}

void HostTree::abandon() {
    for (auto &host : hosts_) host->abandon();
}

void HostTree::on_remote_report(size_t remote, const Frame &frame) {
    Values published;
    Text key;
    if (frame.kind == Kind::barrier && read_frame(frame, published)) pmi_.remote_entered(published);
    else if (frame.kind == Kind::departed) pmi_.remote_departed();
    else if (frame.kind == Kind::ask && read_frame(frame, key)) pmi_.remote_asks(remote, key.text);
    else on_report(frame);
}

void HostTree::on_report(const Frame &frame) {
    if (frame.kind == Kind::ready && ++ready_ < hosts_.size()) return;
    if (frame.kind == Kind::over && ++over_ < hosts_.size()) return;
    report_(frame);
}

void HostTree::tick(uint64_t now_ns) {
    for (auto &host : hosts_) host->tick(now_ns);
}

uint64_t HostTree::deadline_ns() const {
    uint64_t deadline = UINT64_MAX;
    for (const auto &host : hosts_) deadline = std::min(deadline, host->deadline_ns());
    return deadline;
}

}  // namespace lanyard::launch
