// The thread sanitizer in a program that is built with it, by a library that is not: it sees none of the library's own accesses and none of its
// atomics, only what memcpy, malloc and free do for it, and would take data that threads hand to each other by MPI for a race. So it is told:
// whatever a thread did before a call of MPI comes before whatever any thread does after a call that ends later; and what is done inside such
// calls, and by the helper thread, is not for it to judge. That is more order than MPI promises, so it misses races that only the order of calls
// prevents, and it reports none that is not there.
//
// Nothing costs anything without it: calls look whether they are to be timed anyway (api/timed_call.h), and the sanitizer has them timed.
#pragma once

extern "C" {
[[gnu::weak]] void __tsan_acquire(void *address);
[[gnu::weak]] void __tsan_release(void *address);
[[gnu::weak]] void __tsan_ignore_thread_begin();
[[gnu::weak]] void __tsan_ignore_thread_end();
}

namespace lanyard::race_checker {

// Where all calls meet.
inline char place;

// Is there one that must be told? A library that is built with the sanitizer is judged by it.
inline bool there() {
#if defined(__SANITIZE_THREAD__)
    return false;
#else
    return __tsan_acquire && __tsan_release && __tsan_ignore_thread_begin && __tsan_ignore_thread_end;
#endif
}

// What this thread does between the two is the library's work.
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
