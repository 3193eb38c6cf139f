// Cooperates with the thread sanitizer if the program is built with the sanitizer and the library is not. The
// sanitizer sees none of the library's memory accesses and atomics, only its calls of memcpy, malloc and
// free. For data that threads pass to each other through MPI, the sanitizer would report a race. So the
// library reports an order to the sanitizer. Suppose that the MPI call A begins before the MPI call B ends.
// Then everything that A's thread did before A precedes everything that B's thread does after B. Work inside
// MPI calls, and in the helper thread, is excluded from checking. This order is stronger than the order that
// MPI guarantees. So no false race is reported, but a race of the program is missed if the additional order
// hides it.
//
// Without the sanitizer this costs nothing. Each MPI call checks in any case whether it is to be timed
// (api/timed_call.h), and with the sanitizer all calls are timed.
// Tested by: tests/command/test_sanitizers.py.
#pragma once

extern "C" {
[[gnu::weak]] void __tsan_acquire(void *address);
[[gnu::weak]] void __tsan_release(void *address);
[[gnu::weak]] void __tsan_ignore_thread_begin();
[[gnu::weak]] void __tsan_ignore_thread_end();
}

namespace lanyard::race_checker {

// All calls synchronise on this address.
inline char place;

// True if the sanitizer needs these reports. A library that is built with the sanitizer does not need them,
// because then the sanitizer checks the library itself.
inline bool there() {
#if defined(__SANITIZE_THREAD__)
    return false;
#else
    return __tsan_acquire && __tsan_release && __tsan_ignore_thread_begin && __tsan_ignore_thread_end;
#endif
}

// Between begin_unseen() and end_unseen() the calling thread does the library's work.
inline void begin_unseen() {
    if (!there()) return;
    __tsan_release(&place);
    __tsan_ignore_thread_begin();
}
inline void end_unseen() {
    if (!there()) return;
    __tsan_ignore_thread_end();
    __tsan_acquire(&place);
}

struct Unseen {
    Unseen() { begin_unseen(); }
    ~Unseen() { end_unseen(); }
    Unseen(const Unseen &) = delete;
    Unseen &operator=(const Unseen &) = delete;
};

}  // namespace lanyard::race_checker
