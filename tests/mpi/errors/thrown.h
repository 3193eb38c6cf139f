// Defines, for programs whose functions throw through MPI, the exception and a check that a call throws it.
#pragma once

#include <stdexcept>

#include "comm/check.h"

struct Thrown : std::runtime_error {
    int number;
    explicit Thrown(int n) : std::runtime_error("thrown with " + std::to_string(n)), number(n) {}
};

// Returns whether the call throws. The exception must be a Thrown with this number.
template <class Call>
bool throws(int number, Call call, const std::source_location &where = std::source_location::current()) {
    try {
        call();
    } catch (const Thrown &thrown) {
        check_equal(thrown.number, number, where);
        check(thrown.what() == "thrown with " + std::to_string(number), thrown.what(), where);
        return true;
    }
    return false;
}
template <class Call>
void must_throw(int number, Call call, const std::source_location &where = std::source_location::current()) {
    check(throws(number, call, where), "nothing was thrown", where);
}
