// See collectives.h.
#include "coll/collectives.h"

#include <utility>

#include "base/abi_constants.h"
#include "coll/inter.h"

namespace lanyard {

namespace {

// The members of the team, or of this process's own group if there are two groups.
Members members(const Team &team) {
    return team.own_group ? members(*team.own_group) : Members{team.index, team.size, team.nodes};
}

// In an operation with a root: does this process have, or get, the blocks of all ranks?
bool at_root(const Team &team, int root) { return team.own_group ? root == abi::root : root == team.index; }
// The number of ranks that "all" stands for (collectives.h).
int64_t blocks(const Team &team) { return team.own_group ? other_size(team) : team.size; }

Block whole(Space space, int64_t count, const Datatype &type) { return {space, 0, count, &type}; }

// A division that consists of this rank's own block, or is empty if the block has no datatype.
Division own_block(Space space, const Buffer &own) {
    return own.datatype ? Division::even(space, own.count, *own.datatype) : Division();
}

Division division(Space space, const Uneven &all) {
    return Division::uneven(space, all.counts, all.displacements, *all.datatype);
}

ReduceShape reduce_shape(const Team &team, const Reduction &reduction, int root) {
    ReduceShape shape;
    static_cast<Members &>(shape) = members(team);
    shape.root = root;
    shape.op = reduction.op;
    shape.result = whole(Space::receive, reduction.count, *reduction.datatype);
    shape.contribution =
        reduction.in_place ? shape.result : whole(Space::send, reduction.count, *reduction.datatype);
    return shape;
}

MoveShape move_shape(const Team &team, int root, Division sent, Division received, bool in_place, bool even) {
    MoveShape shape;
    static_cast<Members &>(shape) = members(team);
    shape.root = root;
    shape.sent = std::move(sent);
    shape.received = std::move(received);
    shape.in_place = in_place;
    shape.even = even;
    return shape;
}

Agreement agreement_of(CollectiveKind kind, const Reduction &r, int root, int64_t bytes) {
    return {kind, root, r.op->predefined() ? r.op->abi_value : 1, bytes};
}

// Adapts an agreement to an intercommunicator. The agreements of both groups have the root's index in the
// team. The other members of the root's group have neither the root nor the remaining arguments. In a
// collective without a root the numbers of bytes may differ between the two directions.
Agreement between_groups(const Team &team, Agreement agreement) {
    bool for_all = agreement.root == Agreement::no_root;
    if (for_all && agreement.reduction == 0) agreement.bytes = Agreement::unequal;
    if (for_all) return agreement;
    if (agreement.root == abi::proc_null)
        return {agreement.kind, Agreement::unknown_root, Agreement::unknown_reduction};
    int index = agreement.root == abi::root ? team.index : other_begin(team) + agreement.root;
    agreement.root = Agreement::named_roots + index;
    return agreement;
}

void describe(const Team &team, Plan &plan, const Agreement &agreement, const void *send, void *receive) {
    plan.describe(team.own_group ? between_groups(team, agreement) : agreement, send, receive);
    plan.keep(team);
}

PlanKey key_of(const Reduction &r, int root) {
    PlanKey key;
    key.add(r.count).add(r.datatype).add(r.op).add(root).add(r.in_place);
    return key;
}
PlanKey key_of(const Buffer &own, int root) {
    PlanKey key;
    key.add(root).add(own);
    return key;
}
[[gnu::always_inline]] inline PlanKey &add(PlanKey &key, const Uneven &all, int64_t ranks) {
    int count = all.datatype ? static_cast<int>(ranks) : 0;
    return key.add(all.datatype).add(all.counts, count).add(all.displacements, count);
}
PlanKey &add(PlanKey &key, const Typed &all, int64_t ranks) {
    int count = all.datatypes ? static_cast<int>(ranks) : 0;
    for (int rank = 0; rank < count; ++rank) key.add(all.datatypes[rank]);
    return key.add(all.counts, count).add(all.displacements, count);
}

using MakeReduction = void (*)(const Selection &, Team &, const ReduceShape &, Schedule &);

void plan_reduction(CollectiveKind kind, Executor &executor, Team &team, Plan &plan, const Reduction &r,
                    MakeReduction make, int root) {
    if (plan.recall(team, kind, key_of(r, root), r.contribution, r.result, root)) return;
    ReduceShape shape = reduce_shape(team, r, root);
    if (!shape.result.empty()) make(executor.selection(), team, shape, plan.schedule());
    describe(team, plan, agreement_of(kind, r, root, shape.result.bytes()), r.contribution, r.result);
}

void make_parts(const Selection &selection, Team &team, const ReduceScatterShape &shape, Schedule &schedule) {
    if (team.own_group) inter_reduce_scatter(selection, team, shape, schedule);
    else if (!shape.contribution.empty()) make_reduce_scatter(selection, team, shape, schedule);
}

// `bytes`: the bytes of one block.
void make_gathering(const Selection &selection, Team &team, const MoveShape &shape, int64_t bytes,
                    Schedule &schedule) {
    if (team.own_group) inter_gather(selection, team, shape, bytes, schedule);
    else if (!shape.even || bytes > 0) make_gather(selection, team, shape, bytes, schedule);
}

void make_scattering(const Selection &selection, Team &team, const MoveShape &shape, int64_t bytes,
                     Schedule &schedule) {
    if (team.own_group) inter_scatter(selection, team, shape, bytes, schedule);
    else if (!shape.even || bytes > 0) make_scatter(selection, team, shape, bytes, schedule);
}

// `bytes`: the bytes of all blocks.
void make_gathering_for_all(const Selection &selection, Team &team, const MoveShape &shape, int64_t bytes,
                            Schedule &schedule) {
    if (team.own_group) inter_allgather(selection, team, shape, schedule);
    else if (bytes > 0) make_allgather(selection, team, shape, bytes, schedule);
}

void make_exchange(const Selection &selection, Team &team, const MoveShape &shape, int64_t bytes,
                   Schedule &schedule) {
    if (team.own_group) inter_alltoall(team, shape, schedule);
    else if (!shape.even || bytes > 0) make_alltoall(selection, team, shape, bytes, schedule);
}

}  // namespace

void plan_barrier(Executor &executor, Team &team, Plan &plan) {
    if (plan.recall(team, CollectiveKind::barrier, PlanKey(), nullptr, nullptr)) return;
    if (team.size > 1)
        make_barrier(executor.selection(), team, {team.index, team.size, team.nodes}, plan.schedule());
    describe(team, plan, {CollectiveKind::barrier}, nullptr, nullptr);
}

void plan_bcast(Executor &executor, Team &team, Plan &plan, const Buffer &data, int root) {
    if (plan.recall(team, CollectiveKind::bcast, key_of(data, root), nullptr, data.base, root)) return;
    BcastShape shape{members(team), root, whole(Space::receive, data.count, *data.datatype)};
    if (team.own_group) inter_bcast(executor.selection(), team, shape.data, root, plan.schedule());
    else if (team.size > 1 && !shape.data.empty())
        make_bcast(executor.selection(), team, shape, plan.schedule());
    describe(team, plan, {CollectiveKind::bcast, root, 0, shape.data.bytes()}, nullptr, data.base);
}

void plan_reduce(Executor &executor, Team &team, Plan &plan, const Reduction &r, int root) {
    // Only the root may reduce in place, because other ranks have no result buffer.
    plan_reduction(CollectiveKind::reduce, executor, team, plan, r,
                   team.own_group ? inter_reduce : make_reduce, root);
}

void plan_allreduce(Executor &executor, Team &team, Plan &plan, const Reduction &r) {
    plan_reduction(CollectiveKind::allreduce, executor, team, plan, r,
                   team.own_group ? inter_allreduce : make_allreduce, Agreement::no_root);
}

void plan_scan(Executor &executor, Team &team, Plan &plan, const Reduction &r) {
    plan_reduction(CollectiveKind::scan, executor, team, plan, r, make_scan, Agreement::no_root);
}

void plan_exscan(Executor &executor, Team &team, Plan &plan, const Reduction &r) {
    plan_reduction(CollectiveKind::exscan, executor, team, plan, r, make_exscan, Agreement::no_root);
}

void plan_reduce_scatter_block(Executor &executor, Team &team, Plan &plan, const Reduction &r) {
    if (plan.recall(team, CollectiveKind::reduce_scatter_block, key_of(r, Agreement::no_root), r.contribution,
                    r.result))
        return;
    ReduceScatterShape shape;
    static_cast<Members &>(shape) = members(team);
    shape.op = r.op;
    shape.result = whole(Space::receive, r.count, *r.datatype);
    shape.contribution = whole(r.in_place ? Space::receive : Space::send, r.count * shape.size, *r.datatype);
    make_parts(executor.selection(), team, shape, plan.schedule());
    Agreement agreement =
        agreement_of(CollectiveKind::reduce_scatter_block, r, Agreement::no_root, shape.contribution.bytes());
    describe(team, plan, agreement, r.contribution, r.result);
}

void plan_reduce_scatter(Executor &executor, Team &team, Plan &plan, const Reduction &r, Numbers counts) {
    PlanKey key = key_of(r, Agreement::no_root);
    if (plan.recall(team, CollectiveKind::reduce_scatter, key.add(counts, own_size(team)), r.contribution,
                    r.result))
        return;
    int64_t total = 0;
    ReduceScatterShape shape;
    static_cast<Members &>(shape) = members(team);
    for (int rank = 0; rank < shape.size; ++rank) total += counts[rank];
    shape.op = r.op;
    shape.counts = counts;
    shape.result = whole(Space::receive, counts[shape.index], *r.datatype);
    shape.contribution = whole(r.in_place ? Space::receive : Space::send, total, *r.datatype);
    make_parts(executor.selection(), team, shape, plan.schedule());
    Agreement agreement =
        agreement_of(CollectiveKind::reduce_scatter, r, Agreement::no_root, shape.contribution.bytes());
    describe(team, plan, agreement, r.contribution, r.result);
}

void plan_gather(Executor &executor, Team &team, Plan &plan, const Buffer &own, const Even &all, int root) {
    bool has_all = at_root(team, root);
    PlanKey key = key_of(own, root);
    if (has_all) key.add(all);
    if (plan.recall(team, CollectiveKind::gather, key, own.base, all.base, root)) return;
    Division received = has_all ? Division::even(Space::receive, all.count, *all.datatype) : Division();
    int64_t bytes = has_all ? all.bytes() : own.datatype ? own.bytes() : 0;
    MoveShape shape = move_shape(team, root, own_block(Space::send, own), std::move(received),
                                 own.datatype == nullptr, true);
    make_gathering(executor.selection(), team, shape, bytes, plan.schedule());
    describe(team, plan, {CollectiveKind::gather, root, 0, bytes}, own.base, all.base);
}

// The number of bytes for which gatherv chooses its algorithm. Only the root has the real numbers, but all
// ranks must make the same choice.
constexpr int64_t usual_gathered_bytes = 2048;

void plan_gatherv(Executor &executor, Team &team, Plan &plan, const Buffer &own, const Uneven &all,
                  int root) {
    bool has_all = at_root(team, root);
    PlanKey key = key_of(own, root);
    if (has_all) add(key, all, blocks(team));
    if (plan.recall(team, CollectiveKind::gatherv, key, own.base, all.base, root)) return;
    Division received = has_all ? division(Space::receive, all) : Division();
    MoveShape shape = move_shape(team, root, own_block(Space::send, own), std::move(received),
                                 own.datatype == nullptr, false);
    make_gathering(executor.selection(), team, shape, usual_gathered_bytes, plan.schedule());
    describe(team, plan, {CollectiveKind::gatherv, root}, own.base, all.base);
}

void plan_scatter(Executor &executor, Team &team, Plan &plan, const Even &all, const Buffer &own, int root) {
    bool has_all = at_root(team, root);
    PlanKey key = key_of(own, root);
    if (has_all) key.add(all);
    if (plan.recall(team, CollectiveKind::scatter, key, all.base, own.base, root)) return;
    Division sent = has_all ? Division::even(Space::send, all.count, *all.datatype) : Division();
    int64_t bytes = has_all ? all.bytes() : own.datatype ? own.bytes() : 0;
    MoveShape shape = move_shape(team, root, std::move(sent), own_block(Space::receive, own),
                                 own.datatype == nullptr, true);
    make_scattering(executor.selection(), team, shape, bytes, plan.schedule());
    describe(team, plan, {CollectiveKind::scatter, root, 0, bytes}, all.base, own.base);
}

void plan_scatterv(Executor &executor, Team &team, Plan &plan, const Uneven &all, const Buffer &own,
                   int root) {
    bool has_all = at_root(team, root);
    PlanKey key = key_of(own, root);
    if (has_all) add(key, all, blocks(team));
    if (plan.recall(team, CollectiveKind::scatterv, key, all.base, own.base, root)) return;
    Division sent = has_all ? division(Space::send, all) : Division();
    MoveShape shape = move_shape(team, root, std::move(sent), own_block(Space::receive, own),
                                 own.datatype == nullptr, false);
    make_scattering(executor.selection(), team, shape, 0, plan.schedule());
    describe(team, plan, {CollectiveKind::scatterv, root}, all.base, own.base);
}

void plan_allgather(Executor &executor, Team &team, Plan &plan, const Buffer &own, const Even &all) {
    if (plan.recall(team, CollectiveKind::allgather, PlanKey().add(own).add(all), own.base, all.base)) return;
    Division received = Division::even(Space::receive, all.count, *all.datatype);
    MoveShape shape =
        move_shape(team, 0, own_block(Space::send, own), std::move(received), own.datatype == nullptr, true);
    int64_t bytes = all.bytes() * blocks(team);
    make_gathering_for_all(executor.selection(), team, shape, bytes, plan.schedule());
    describe(team, plan, {CollectiveKind::allgather, Agreement::no_root, 0, bytes}, own.base, all.base);
}

void plan_allgatherv(Executor &executor, Team &team, Plan &plan, const Buffer &own, const Uneven &all) {
    PlanKey key;
    key.add(own);
    if (plan.recall(team, CollectiveKind::allgatherv, add(key, all, blocks(team)), own.base, all.base))
        return;
    Division received = division(Space::receive, all);
    MoveShape shape =
        move_shape(team, 0, own_block(Space::send, own), std::move(received), own.datatype == nullptr, false);
    int64_t bytes = 0;
    for (int rank = 0; rank < blocks(team); ++rank) bytes += shape.received.block(rank).bytes();
    make_gathering_for_all(executor.selection(), team, shape, bytes, plan.schedule());
    describe(team, plan, {CollectiveKind::allgatherv, Agreement::no_root, 0, bytes}, own.base, all.base);
}

void plan_alltoall(Executor &executor, Team &team, Plan &plan, const Even &sent, const Even &received) {
    if (plan.recall(team, CollectiveKind::alltoall, PlanKey().add(sent).add(received), sent.base,
                    received.base))
        return;
    Division to = sent.datatype ? Division::even(Space::send, sent.count, *sent.datatype) : Division();
    Division from = Division::even(Space::receive, received.count, *received.datatype);
    MoveShape shape = move_shape(team, 0, to, from, sent.datatype == nullptr, true);
    make_exchange(executor.selection(), team, shape, received.bytes(), plan.schedule());
    describe(team, plan, {CollectiveKind::alltoall, Agreement::no_root, 0, received.bytes()}, sent.base,
             received.base);
}

void plan_alltoallv(Executor &executor, Team &team, Plan &plan, const Uneven &sent, const Uneven &received) {
    PlanKey key;
    add(add(key, sent, blocks(team)), received, blocks(team));
    if (plan.recall(team, CollectiveKind::alltoallv, key, sent.base, received.base)) return;
    Division to = sent.datatype ? division(Space::send, sent) : Division();
    MoveShape shape =
        move_shape(team, 0, to, division(Space::receive, received), sent.datatype == nullptr, false);
    make_exchange(executor.selection(), team, shape, 0, plan.schedule());
    describe(team, plan, {CollectiveKind::alltoallv}, sent.base, received.base);
}

void plan_alltoallw(Executor &executor, Team &team, Plan &plan, const Typed &sent, const Typed &received) {
    PlanKey key;
    add(add(key, sent, blocks(team)), received, blocks(team));
    if (plan.recall(team, CollectiveKind::alltoallw, key, sent.base, received.base)) return;
    Division to = sent.datatypes
                      ? Division::typed(Space::send, sent.counts, sent.displacements, sent.datatypes)
                      : Division();
    Division from =
        Division::typed(Space::receive, received.counts, received.displacements, received.datatypes);
    MoveShape shape = move_shape(team, 0, to, from, sent.datatypes == nullptr, false);
    make_exchange(executor.selection(), team, shape, 0, plan.schedule());
    describe(team, plan, {CollectiveKind::alltoallw}, sent.base, received.base);
}

}  // namespace lanyard
