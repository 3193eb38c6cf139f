#include "coll/collectives.h"

namespace lanyard {

namespace {

Members members(const Team &team) { return {team.index, team.size}; }

Block whole(Space space, int64_t count, const Datatype &type) { return {space, 0, count, &type}; }

// A rank's own block as a division, for those who have nothing for others.
Division own_block(Space space, const Buffer &own) {
    return own.datatype ? Division::even(space, own.count, *own.datatype) : Division();
}

Division division(Space space, const Uneven &all) { return Division::uneven(space, all.counts, all.displacements, *all.datatype); }

ReduceShape reduce_shape(const Team &team, const Reduction &reduction, int root) {
    ReduceShape shape;
    static_cast<Members &>(shape) = members(team);
    shape.root = root;
    shape.op = reduction.op;
    shape.result = whole(Space::receive, reduction.count, *reduction.datatype);
    shape.contribution = reduction.in_place ? shape.result : whole(Space::send, reduction.count, *reduction.datatype);
    return shape;
}

MoveShape move_shape(const Team &team, int root, const Division &sent, const Division &received, bool in_place, bool even) {
    MoveShape shape;
    static_cast<Members &>(shape) = members(team);
    shape.root = root;
    shape.sent = sent;
    shape.received = received;
    shape.in_place = in_place;
    shape.even = even;
    return shape;
}

using MakeReduction = void (*)(const Selection &, Team &, const ReduceShape &, Schedule &);

void plan_reduction(const char *name, Executor &executor, Team &team, Collective &collective, const Reduction &r, MakeReduction make, int root) {
    ReduceShape shape = reduce_shape(team, r, root);
    if (!shape.result.empty()) make(executor.selection(), team, shape, collective.schedule);
    collective.describe(name, r.contribution, r.result);
}

}  // namespace

void plan_barrier(Executor &executor, Team &team, Collective &collective) {
    if (team.size > 1) make_barrier(executor.selection(), team, members(team), collective.schedule);
    collective.describe("barrier", nullptr, nullptr);
}

void plan_bcast(Executor &executor, Team &team, Collective &collective, const Buffer &data, int root) {
    BcastShape shape{members(team), root, whole(Space::receive, data.count, *data.datatype)};
    if (team.size > 1 && !shape.data.empty()) make_bcast(executor.selection(), team, shape, collective.schedule);
    collective.describe("bcast", nullptr, data.base);
}

void plan_reduce(Executor &executor, Team &team, Collective &collective, const Reduction &r, int root) {
    // Only the root may reduce in place; elsewhere there is no result.
    plan_reduction("reduce", executor, team, collective, r, make_reduce, root);
}

void plan_allreduce(Executor &executor, Team &team, Collective &collective, const Reduction &r) {
    plan_reduction("allreduce", executor, team, collective, r, make_allreduce, 0);
}

void plan_scan(Executor &executor, Team &team, Collective &collective, const Reduction &r) {
    plan_reduction("scan", executor, team, collective, r, make_scan, 0);
}

void plan_exscan(Executor &executor, Team &team, Collective &collective, const Reduction &r) {
    plan_reduction("exscan", executor, team, collective, r, make_exscan, 0);
}

void plan_reduce_scatter_block(Executor &executor, Team &team, Collective &collective, const Reduction &r) {
    ReduceScatterShape shape;
    static_cast<Members &>(shape) = members(team);
    shape.op = r.op;
    shape.result = whole(Space::receive, r.count, *r.datatype);
    shape.contribution = whole(r.in_place ? Space::receive : Space::send, r.count * team.size, *r.datatype);
    if (!shape.contribution.empty()) make_reduce_scatter(executor.selection(), team, shape, collective.schedule);
    collective.describe("reduce_scatter_block", r.contribution, r.result);
}

void plan_reduce_scatter(Executor &executor, Team &team, Collective &collective, const Reduction &r, Numbers counts) {
    int64_t total = 0;
    for (int rank = 0; rank < team.size; ++rank) total += counts[rank];
    ReduceScatterShape shape;
    static_cast<Members &>(shape) = members(team);
    shape.op = r.op;
    shape.counts = counts;
    shape.result = whole(Space::receive, counts[team.index], *r.datatype);
    shape.contribution = whole(r.in_place ? Space::receive : Space::send, total, *r.datatype);
    if (!shape.contribution.empty()) make_reduce_scatter(executor.selection(), team, shape, collective.schedule);
    collective.describe("reduce_scatter", r.contribution, r.result);
}

void plan_gather(Executor &executor, Team &team, Collective &collective, const Buffer &own, const Even &all, int root) {
    bool at_root = team.index == root;
    Division received = at_root ? Division::even(Space::receive, all.count, *all.datatype) : Division();
    int64_t bytes = at_root ? all.bytes() : own.bytes();
    MoveShape shape = move_shape(team, root, own_block(Space::send, own), received, own.datatype == nullptr, true);
    if (bytes > 0) make_gather(executor.selection(), team, shape, bytes, collective.schedule);
    collective.describe("gather", own.base, all.base);
}

void plan_gatherv(Executor &executor, Team &team, Collective &collective, const Buffer &own, const Uneven &all, int root) {
    Division received = team.index == root ? division(Space::receive, all) : Division();
    MoveShape shape = move_shape(team, root, own_block(Space::send, own), received, own.datatype == nullptr, false);
    make_gather(executor.selection(), team, shape, 0, collective.schedule);
    collective.describe("gatherv", own.base, all.base);
}

void plan_scatter(Executor &executor, Team &team, Collective &collective, const Even &all, const Buffer &own, int root) {
    bool at_root = team.index == root;
    Division sent = at_root ? Division::even(Space::send, all.count, *all.datatype) : Division();
    int64_t bytes = at_root ? all.bytes() : own.bytes();
    MoveShape shape = move_shape(team, root, sent, own_block(Space::receive, own), own.datatype == nullptr, true);
    if (bytes > 0) make_scatter(executor.selection(), team, shape, bytes, collective.schedule);
    collective.describe("scatter", all.base, own.base);
}

void plan_scatterv(Executor &executor, Team &team, Collective &collective, const Uneven &all, const Buffer &own, int root) {
    Division sent = team.index == root ? division(Space::send, all) : Division();
    MoveShape shape = move_shape(team, root, sent, own_block(Space::receive, own), own.datatype == nullptr, false);
    make_scatter(executor.selection(), team, shape, 0, collective.schedule);
    collective.describe("scatterv", all.base, own.base);
}

void plan_allgather(Executor &executor, Team &team, Collective &collective, const Buffer &own, const Even &all) {
    Division received = Division::even(Space::receive, all.count, *all.datatype);
    MoveShape shape = move_shape(team, 0, own_block(Space::send, own), received, own.datatype == nullptr, true);
    int64_t bytes = all.bytes() * team.size;
    if (bytes > 0) make_allgather(executor.selection(), team, shape, bytes, collective.schedule);
    collective.describe("allgather", own.base, all.base);
}

void plan_allgatherv(Executor &executor, Team &team, Collective &collective, const Buffer &own, const Uneven &all) {
    Division received = division(Space::receive, all);
    MoveShape shape = move_shape(team, 0, own_block(Space::send, own), received, own.datatype == nullptr, false);
    int64_t bytes = 0;
    for (int rank = 0; rank < team.size; ++rank) bytes += received.block(rank).bytes();
    if (bytes > 0) make_allgather(executor.selection(), team, shape, bytes, collective.schedule);
    collective.describe("allgatherv", own.base, all.base);
}

void plan_alltoall(Executor &executor, Team &team, Collective &collective, const Even &sent, const Even &received) {
    Division to = sent.datatype ? Division::even(Space::send, sent.count, *sent.datatype) : Division();
    Division from = Division::even(Space::receive, received.count, *received.datatype);
    MoveShape shape = move_shape(team, 0, to, from, sent.datatype == nullptr, true);
    if (received.bytes() > 0) make_alltoall(executor.selection(), team, shape, received.bytes(), collective.schedule);
    collective.describe("alltoall", sent.base, received.base);
}

void plan_alltoallv(Executor &executor, Team &team, Collective &collective, const Uneven &sent, const Uneven &received) {
    Division to = sent.datatype ? division(Space::send, sent) : Division();
    MoveShape shape = move_shape(team, 0, to, division(Space::receive, received), sent.datatype == nullptr, false);
    make_alltoall(executor.selection(), team, shape, 0, collective.schedule);
    collective.describe("alltoallv", sent.base, received.base);
}

void plan_alltoallw(Executor &executor, Team &team, Collective &collective, const Typed &sent, const Typed &received) {
    Division to = sent.datatypes ? Division::typed(Space::send, sent.counts, sent.displacements, sent.datatypes) : Division();
    Division from = Division::typed(Space::receive, received.counts, received.displacements, received.datatypes);
    MoveShape shape = move_shape(team, 0, to, from, sent.datatypes == nullptr, false);
    make_alltoall(executor.selection(), team, shape, 0, collective.schedule);
    collective.describe("alltoallw", sent.base, received.base);
}

}  // namespace lanyard
