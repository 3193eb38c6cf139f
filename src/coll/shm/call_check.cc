// See call_check.h.
#include "coll/shm/call_check.h"

#include <string>

namespace lanyard {

void CallCheck::keep_disagreement(int rank, const CollectiveCall &own, const CollectiveCall &other) {
    other_rank_ = rank;
    disputed_ = own;
    other_ = other;
}

void CallCheck::compare_remembered(const AreaTeam &place) {
    NodeUse &use = place.team.node_use;
    for (int rank = 0; rank < place.team.size; ++rank) {
        if (rank == place.team.index) continue;
        const CallLog &calls = place.area.calls(rank);
        for (const NodeUse::Alone *alone = use.alone; alone < use.alone + use.alone_count && !disagrees();
             ++alone) {
            if (calls.told(alone->generation) == alone->told) [[likely]] continue;
            CollectiveCall other;
            if (calls.find(alone->generation, other)) compare(rank, CallLog::call_in(alone->told), other);
        }
    }
    use.alone_count = 0;
}

Error CallCheck::error() const {
    if (disagrees()) {
        if (disputed_.number != other_.number) {
            // Posts have only the low bits of numbers. The other rank's number is taken to be the nearest one
            // to this rank's number that has these bits.
            uint32_t own = number_ - disputed_age(), ahead = (other_.number - own) & Slot::most_numbers;
            uint32_t other = own + ahead - (ahead > Slot::most_numbers / 2 ? Slot::most_numbers + 1 : 0);
            return out_of_order(disputed_.word, own, other_.word, other, other_rank_);
        }
        Error error = disagreement(disputed_.word, other_.word, other_rank_);
        if (misfit_ < 0 || error.code() != static_cast<int>(ErrorClass::count)) return error;
        error.discard();
    }
    if (misfit_ < 0) return {};
    return Error(ErrorClass::count, "rank " + std::to_string(misfit_) + " takes part with " +
                                        std::to_string(misfit_bytes_) + " bytes, this rank expects " +
                                        std::to_string(expected_bytes_) +
                                        "; count and datatype must agree on all ranks");
}

}  // namespace lanyard
