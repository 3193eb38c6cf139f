// All places that one process starts; see station.h.
#include "launch/station.h"

#include <algorithm>

namespace lanyard::launch {

namespace {

size_t branch_count(const Assignment &job) { return std::min(job.below.size(), static_cast<size_t>(job.plan.fan_out)); }

}  // namespace

Station::Station(Loop &loop, const Assignment &job, const Surroundings &surroundings, const Owner &owner)
    : report_(owner.report),
      pmi_(loop, job.plan.placement, job.job, neighbours(owner.at_top, branch_count(job)),
           [this, &owner_streams = owner.streams](const Abort &abort) {
               owner_streams.catch_up();  // what the rank said before it asked
               report_(make_frame(Kind::aborted, abort));
           }) {
    if (job.plan.placement.own >= 0) {
        Local local{job.plan, job.job, surroundings.environment, pmi_, owner.streams, owner.input, !owner.at_top};
        places_.push_back(std::make_unique<LocalHost>(loop, surroundings, local, [this](const Frame &frame) { on_report(frame); }));
    }
    add_branches(loop, job, surroundings);
}

// Each branch gets an equal part of the hosts, in their order.
void Station::add_branches(Loop &loop, const Assignment &job, const Surroundings &surroundings) {
    size_t count = branch_count(job);
    for (size_t i = 0; i < count; ++i) {
        auto first = job.below.begin() + static_cast<long>(i * job.below.size() / count);
        auto end = job.below.begin() + static_cast<long>((i + 1) * job.below.size() / count);
        auto report = [this, i](const Frame &frame) { on_branch_report(i, frame); };
        auto branch = std::make_unique<Branch>(loop, job, std::vector<int>(first, end), surroundings.own_environment, surroundings.inherited, report);
        branches_.push_back(branch.get());
        places_.push_back(std::move(branch));
    }
}

PmiServer::Neighbours Station::neighbours(bool at_top, size_t branches) {
    PmiServer::Neighbours neighbours;
    neighbours.branches = branches;
    neighbours.below = [this](size_t branch, const Frame &frame) { branches_[branch]->command(frame); };
    if (!at_top) neighbours.above = [this](const Frame &frame) { report_(frame); };
    return neighbours;
}

void Station::prepare() {
    for (auto &place : places_) place->prepare();
}

void Station::command(const Frame &frame) {
    Values published;
    Answer answer;
    Stream stream;
    switch (frame.kind) {
        case Kind::end: pmi_.job_ends(); [[fallthrough]];
        case Kind::start: case Kind::signal: case Kind::ask_waits:
            for (auto &place : places_) place->command(frame);
            break;
        case Kind::release:
            if (read_frame(frame, published)) pmi_.release(published);
            break;
        case Kind::answer:
            if (read_frame(frame, answer)) pmi_.answered(answer);
            break;
        case Kind::output_credit: case Kind::output_closed: case Kind::input:
            if (!read_frame(frame, stream)) break;
            for (Branch *branch : branches_)
                if (branch->leads_to(stream.node)) branch->command(frame);
            break;
        default: break;
    }
}

void Station::abandon() {
    for (auto &place : places_) place->abandon();
}

void Station::on_branch_report(size_t branch, const Frame &frame) {
    Values published;
    Text key;
    if (frame.kind == Kind::barrier && read_frame(frame, published)) pmi_.branch_entered(published);
    else if (frame.kind == Kind::departed) pmi_.branch_departed();
    else if (frame.kind == Kind::ask && read_frame(frame, key)) pmi_.branch_asks(branch, key.text);
    else on_report(frame);
}

void Station::on_report(const Frame &frame) {
    if (frame.kind == Kind::ready && ++ready_ < places_.size()) return;
    if (frame.kind == Kind::over && ++over_ < places_.size()) return;
    report_(frame);
}

void Station::tick(uint64_t now_ns) {
    for (auto &place : places_) place->tick(now_ns);
}

uint64_t Station::deadline_ns() const {
    uint64_t deadline = UINT64_MAX;
    for (const auto &place : places_) deadline = std::min(deadline, place->deadline_ns());
    return deadline;
}

}  // namespace lanyard::launch
