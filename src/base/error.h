// Errors are values. An Error is success (a null pointer) or owns a record with the MPI error class and a
// sentence. All layers return errors, and the ABI front ends raise them. An Error is trivially copyable, so
// that it travels in a register. Therefore no destructor frees the record: the code that receives an Error
// must pass it on, or end it with take() or discard(). Nothing in the data path throws.
#pragma once

#include <exception>
#include <memory>
#include <string>
#include <string_view>

namespace lanyard {

// Error classes of the MPI-5.0 ABI, with the values that the program sees.
enum class ErrorClass : int {
    success = 0,
    buffer = 1,
    count = 2,
    type = 3,
    tag = 4,
    comm = 5,
    rank = 6,
    request = 7,
    root = 8,
    group = 9,
    op = 10,
    topology = 11,
    dims = 12,
    arg = 13,
    unknown = 14,
    truncate = 15,
    other = 16,
    intern = 17,
    pending = 18,
    in_status = 19,
    access = 20,
    amode = 21,
    assert = 22,
    bad_file = 23,
    base = 24,
    conversion = 25,
    disp = 26,
    dup_datarep = 27,
    file_exists = 28,
    file_in_use = 29,
    file = 30,
    info_key = 31,
    info_nokey = 32,
    info_value = 33,
    info = 34,
    io = 35,
    keyval = 36,
    locktype = 37,
    name = 38,
    no_mem = 39,
    not_same = 40,
    no_space = 41,
    no_such_file = 42,
    port = 43,
    quota = 44,
    read_only = 45,
    rma_attach = 46,
    rma_conflict = 47,
    rma_range = 48,
    rma_shared = 49,
    rma_sync = 50,
    service = 51,
    size = 52,
    spawn = 53,
    unsupported_datarep = 54,
    unsupported_operation = 55,
    win = 56,
    rma_flavor = 57,
    proc_aborted = 58,
    value_too_large = 59,
    session = 60,
    errhandler = 61,
    abi = 62,
};

struct ErrorRecord {
    // An error class, or a code that the program made with MPI_Add_error_code or returned from a callback.
    int code;
    std::string sentence;
    // If the failed call names no communicator: the communicator whose error handler is called. It is kept
    // alive until then.
    std::shared_ptr<void> about = {};
    // For MPI_ERR_IN_STATUS: the error code of the first request that failed. The error handler receives this
    // code (MPI-5.0 9.3.1).
    int reason = 0;
    // The ranks are not in the same collective operation, so messages that they wait for will never arrive.
    bool mismatch = false;
    // For a mismatch, if known: the rank that has called another operation, and a word that describes that
    // operation (coll/agreement.h).
    int other_rank = -1;
    uint32_t other_word = 0;
    // The exception that a function of the program threw. The front end throws it again instead of calling an
    // error handler (base/thrown.h).
    std::exception_ptr thrown = {};
};

class [[nodiscard]] Error {
public:
    constexpr Error() = default;
    Error(ErrorClass error_class, std::string sentence)
        : Error(static_cast<int>(error_class), std::move(sentence)) {}
    Error(int code, std::string sentence) : record_(new ErrorRecord{code, std::move(sentence)}) {}

    // True for a failure.
    explicit operator bool() const { return record_ != nullptr; }
    int code() const { return record_ ? record_->code : 0; }
    const std::string &sentence() const { return record_->sentence; }

    // Prefixes the sentence with what was being done when the error occurred: "no such file" -> "opening /x:
    // no such file". Called at each level from the inside out.
    Error within(std::string_view context) {
        record_->sentence.insert(0, std::string(context) + ": ");
        return *this;
    }
    Error about(std::shared_ptr<void> comm) {
        record_->about = std::move(comm);
        return *this;
    }
    Error of_mismatch(int other_rank = -1, uint32_t other_word = 0) {
        record_->mismatch = true;
        record_->other_rank = other_rank;
        record_->other_word = other_word;
        return *this;
    }
    bool is_mismatch() const { return record_ && record_->mismatch; }
    int other_rank() const { return record_ ? record_->other_rank : -1; }
    uint32_t other_word() const { return record_ ? record_->other_word : 0; }
    Error because_of(int code) {
        record_->reason = code;
        return *this;
    }
    Error that_threw(std::exception_ptr thrown) {
        record_->thrown = std::move(thrown);
        return *this;
    }
    // Ends the error: returns its record as a value, or discards it.
    ErrorRecord take();
    void discard();

private:
    ErrorRecord *record_ = nullptr;
};

// Returns `first` if it is a failure, otherwise `second`. The other error is discarded.
inline Error first_failure(Error first, Error second) {
    if (!first) return second;
    second.discard();
    return first;
}

// The text of an errno value, e.g. "No space left on device".
std::string system_text(int error_number);

// Stops the process with a message. Called when an invariant is broken and the process could only go on with
// corrupt data.
[[noreturn]] void broken_invariant(const char *what, const char *file, int line);

}  // namespace lanyard

// An assertion that release builds check, too. Only for code that does not run for every message.
#define LANYARD_MUST(condition) \
    ((condition) ? void() : ::lanyard::broken_invariant(#condition, __FILE__, __LINE__))
