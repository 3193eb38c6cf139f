// Statuses of the program while the library reads or fills them in its own form. On the stack of one call; any thread.
#pragma once

#include <cstdlib>

#include "api/check.h"
#include "api/types.h"
#include "doors/mpich_abi/translate.h"
#include "doors/mpich_abi/types.h"

namespace lanyard::mpich_abi {

// MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE, which are 1, become the standard's null pointer.
inline MPI_Status *status_in(MPI_Status *status) { return reinterpret_cast<uintptr_t>(status) == 1 ? nullptr : status; }
inline const MPI_Status *status_in(const MPI_Status *status) { return reinterpret_cast<uintptr_t>(status) == 1 ? nullptr : status; }

inline void count_from_program(const MPI_Status &given, Status &status) {
    auto high = static_cast<uint32_t>(given.count_hi_and_cancelled);
    status.count_low = static_cast<uint32_t>(given.count_lo);
    status.count_high = high >> 1;
    status.cancelled = high & 1;
}
// The error as the program has it: most statuses hold none, but what was there before.
inline Status from_program(const MPI_Status &given) {
    Status status{};
    status.source = rank_in(given.MPI_SOURCE);
    status.tag = tag_in(given.MPI_TAG);
    status.error = given.MPI_ERROR;
    count_from_program(given, status);
    return status;
}
inline void count_to_program(const Status &status, MPI_Status &place) {
    place.count_lo = static_cast<int>(status.count_low);
    place.count_hi_and_cancelled = static_cast<int>(status.count_high << 1 | (status.cancelled != 0));
}
// All but the error, which only calls on several requests set.
inline void transfer_to_program(const Status &status, MPI_Status &place) {
    count_to_program(status, place);
    place.MPI_SOURCE = rank_out(status.source);
    place.MPI_TAG = tag_out(status.tag);
}

// A status that the library may fill. What it does not set stays as it was in the program's.
class ResultStatus {
public:
    explicit ResultStatus(const MPI_Status *place) : wanted_(place != nullptr) { mark(status_); }

    Status *data() { return wanted_ ? &status_ : nullptr; }
    void store(MPI_Status *place) const {
        if (wanted_) store(status_, *place);
    }

    static void mark(Status &status) { status.source = status.error = unset; }
    static void store(const Status &status, MPI_Status &place) {
        if (status.source != unset) transfer_to_program(status, place);
        if (status.error != unset) place.MPI_ERROR = error_code_out(status.error);
    }

private:
    static constexpr int unset = INT32_MIN;

    bool wanted_;
    Status status_;
};

// The same for an array; on the stack when it is short.
class ResultStatuses {
public:
    ResultStatuses() = default;
    ResultStatuses(const ResultStatuses &) = delete;
    ResultStatuses &operator=(const ResultStatuses &) = delete;
    ~ResultStatuses() {
        if (all_ != few_) std::free(all_);
    }

    Error reserve(const char *name, const MPI_Status *places, int count) {
        if (!places || count <= 0) return {};
        all_ = count <= few ? few_ : static_cast<Status *>(std::malloc(static_cast<size_t>(count) * sizeof(Status)));
        if (!all_) return complaint::no_memory(name);
        count_ = count;
        for (int i = 0; i < count_; ++i) ResultStatus::mark(all_[i]);
        return {};
    }
    Status *data() { return all_; }
    void store(MPI_Status *places) const {
        for (int i = 0; i < count_; ++i) ResultStatus::store(all_[i], places[i]);
    }

private:
    static constexpr int few = 32;

    Status few_[few];
    Status *all_ = nullptr;
    int count_ = 0;
};

enum class StatusPart { count, source, tag, error };  // count: and whether it was cancelled

// A status of which the library reads or changes a part: the program may not have filled the others.
template <StatusPart part>
class GivenStatus {
public:
    explicit GivenStatus(const MPI_Status *place) {
        if (!place) return;
        if (part == StatusPart::count) count_from_program(*place, status_);
        if (part == StatusPart::source) status_.source = rank_in(place->MPI_SOURCE);
        if (part == StatusPart::tag) status_.tag = tag_in(place->MPI_TAG);
        if (part == StatusPart::error) status_.error = place->MPI_ERROR;
    }

    Status *data() { return &status_; }
    void store(MPI_Status *place) const {
        if (!place) return;
        if (part == StatusPart::count) count_to_program(status_, *place);
        if (part == StatusPart::source) place->MPI_SOURCE = rank_out(status_.source);
        if (part == StatusPart::tag) place->MPI_TAG = tag_out(status_.tag);
        if (part == StatusPart::error) place->MPI_ERROR = status_.error;
    }

private:
    Status status_{};
};

}  // namespace lanyard::mpich_abi
