// Gives the function bodies in functions/ access to statuses of the program that the library reads or fills.
// Each object is on the stack of one call.
//
// If the ABI has the standard's layout of a status, which the library uses as well, statuses pass unchanged.
// For any other ABI, the library fills a status with its own layout, which is then converted. Such an ABI
// states these facts about a status:
//     Abi::status_in(pointer)                  nullptr for MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE
//     Abi::count_from_program(given, status)   reads the fields without a name: the count, and whether the
//                                              operation was cancelled
//     Abi::count_to_program(status, place)     writes these fields
// Tested by: tests/unit/doors/numbers_test.cc, tests/mpich_abi/values_test.cc.
#pragma once

#include <cstdlib>

#include "api/check.h"
#include "api/types.h"

namespace lanyard::doors {

// Converts a whole status of the program. MPI_ERROR is copied untranslated, because most MPI calls do not
// set it and it may then be any number.
template <class Abi>
inline Status from_program(const typename Abi::MPI_Status &given) {
    Status status{};
    status.source = Abi::rank_in(given.MPI_SOURCE);
    status.tag = Abi::tag_in(given.MPI_TAG);
    status.error = given.MPI_ERROR;
    Abi::count_from_program(given, status);
    return status;
}
// Converts everything except MPI_ERROR, which only calls on several requests set.
template <class Abi>
inline void transfer_to_program(const Status &status, typename Abi::MPI_Status &place) {
    Abi::count_to_program(status, place);
    place.MPI_SOURCE = Abi::rank_out(status.source);
    place.MPI_TAG = Abi::tag_out(status.tag);
}

// A status that the library may fill. Fields that the library does not set keep the program's
// values.
template <class Abi>
class ResultStatus {
public:
    using MPI_Status = typename Abi::MPI_Status;

    explicit ResultStatus(const MPI_Status *place) : wanted_(place != nullptr) { mark(status_); }

    Status *data() { return wanted_ ? &status_ : nullptr; }
    void store(MPI_Status *place) const {
        if (wanted_) store(status_, *place);
    }

    static void mark(Status &status) { status.source = status.error = unset; }
    static void store(const Status &status, MPI_Status &place) {
        if (status.source != unset) transfer_to_program<Abi>(status, place);
        if (status.error != unset) place.MPI_ERROR = Abi::error_code_out(status.error);
    }

private:
    static constexpr int unset = INT32_MIN;

    bool wanted_;
    Status status_;
};

// The same for an array of statuses. At most 32 statuses are in this object; more are in allocated
// memory.
template <class Abi>
class ResultStatuses {
public:
    using MPI_Status = typename Abi::MPI_Status;

    ResultStatuses() = default;
    ResultStatuses(const ResultStatuses &) = delete;
    ResultStatuses &operator=(const ResultStatuses &) = delete;
    ~ResultStatuses() {
        if (all_ != few_) std::free(all_);
    }

    Error reserve(const char *name, const MPI_Status *places, int count) {
        if (!places || count <= 0) return {};
        all_ = count <= few ? few_
                            : static_cast<Status *>(std::malloc(static_cast<size_t>(count) * sizeof(Status)));
        if (!all_) return complaint::no_memory(name);
        count_ = count;
        for (int i = 0; i < count_; ++i) ResultStatus<Abi>::mark(all_[i]);
        return {};
    }
    Status *data() { return all_; }
    void store(MPI_Status *places) const {
        for (int i = 0; i < count_; ++i) ResultStatus<Abi>::store(all_[i], places[i]);
    }

private:
    static constexpr int few = 32;

    Status few_[few];
    Status *all_ = nullptr;
    int count_ = 0;
};

enum class StatusPart { count, source, tag, error };  // `count` includes whether the operation was cancelled

// A status of which the library reads or changes one part only. The other parts are not converted,
// because the program need not have set them.
template <class Abi, StatusPart part>
class GivenStatus {
public:
    using MPI_Status = typename Abi::MPI_Status;

    explicit GivenStatus(const MPI_Status *place) {
        if (!place) return;
        if (part == StatusPart::count) Abi::count_from_program(*place, status_);
        if (part == StatusPart::source) status_.source = Abi::rank_in(place->MPI_SOURCE);
        if (part == StatusPart::tag) status_.tag = Abi::tag_in(place->MPI_TAG);
        if (part == StatusPart::error) status_.error = place->MPI_ERROR;
    }

    Status *data() { return &status_; }
    void store(MPI_Status *place) const {
        if (!place) return;
        if (part == StatusPart::count) Abi::count_to_program(status_, *place);
        if (part == StatusPart::source) place->MPI_SOURCE = Abi::rank_out(status_.source);
        if (part == StatusPart::tag) place->MPI_TAG = Abi::tag_out(status_.tag);
        if (part == StatusPart::error) place->MPI_ERROR = status_.error;
    }

private:
    Status status_{};
};

// The three classes for an ABI whose statuses have the library's layout.
template <class Abi>
    requires Abi::of_the_standard
class ResultStatus<Abi> {
public:
    using MPI_Status = typename Abi::MPI_Status;

    explicit ResultStatus(MPI_Status *place) : place_(reinterpret_cast<Status *>(place)) {}
    Status *data() { return place_; }
    void store(MPI_Status *) const {}

private:
    Status *place_;
};
template <class Abi>
    requires Abi::of_the_standard
class ResultStatuses<Abi> {
public:
    using MPI_Status = typename Abi::MPI_Status;

    Error reserve(const char *, MPI_Status *places, int) {
        places_ = reinterpret_cast<Status *>(places);
        return {};
    }
    Status *data() { return places_; }
    void store(MPI_Status *) const {}

private:
    Status *places_ = nullptr;
};
template <class Abi, StatusPart part>
    requires Abi::of_the_standard
class GivenStatus<Abi, part> {
public:
    using MPI_Status = typename Abi::MPI_Status;

    explicit GivenStatus(const MPI_Status *place)
        : place_(reinterpret_cast<Status *>(const_cast<MPI_Status *>(place))) {}
    Status *data() { return place_; }
    void store(MPI_Status *) const {}

private:
    Status *place_;
};

}  // namespace lanyard::doors
