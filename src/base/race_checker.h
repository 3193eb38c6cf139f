// Cooperation with the thread sanitizer in a program that is built with it, while the library is not. The
// sanitizer sees none of the library's accesses and atomics, only calls of memcpy, malloc and free. It would
// report a race for data that threads pass to each other through MPI. So the library reports an order to it:
// whatever a thread did before an MPI call precedes whatever any thread does after a call that ends later.
// Work inside such calls, and in the helper thread, is excluded from checking. This order is stronger than
// MPI's. So races that only the order of calls prevents are missed, and no false race is reported.
//
// Without the sanitizer this costs nothing. Each call checks whether it is to be timed anyway
// (api/timed_call.h), and the sanitizer turns that on.
#pragma once

extern "C" {
[[gnu::weak]] void __tsan_acquire(void *address);
[[gnu::weak]] void __tsan_release(void *address);
[[gnu::weak]] void __tsan_ignore_thread_begin();
[[gnu::weak]] void __tsan_ignore_thread_end();
}

namespace lanyard::race_checker {

// The one address on which all calls synchronise.
inline char place;

// True if a sanitizer needs these reports. A library that is built with the sanitizer is itself checked.
inline bool there() {
#if defined(__SANITIZE_THREAD__)
    return false;
#else
    return __tsan_acquire && __tsan_release && __tsan_ignore_thread_begin && __tsan_ignore_thread_end;
#endif
}

// Between these two calls this thread does the library's work.
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
