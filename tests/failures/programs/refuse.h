// Makes the kernel refuse certain system calls of this process, of all its threads, and of the processes that
// it starts. Containers, hardened systems and sandboxes refuse calls in the same way (seccomp). A refusal
// with ENOSYS simulates a kernel that does not have the call.
#pragma once

#include <errno.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// A system call to refuse, and the errno with which it fails. If bit i of `compared` is set, only calls whose
// argument i has the value argument[i] are refused. Only the first three arguments of a call can be compared.
struct refusal {
    unsigned call, compared, argument[3];
    int trouble;
};

static unsigned add_refusal(struct sock_filter *step, const struct refusal *what) {
    unsigned count = 0, tests = 1;
    for (unsigned i = 0; i < 3; ++i) tests += what->compared >> i & 1;
    // If a test fails, the filter jumps over the remaining tests and over the refusal. Each remaining test
    // has two steps.
    step[count++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    step[count++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, what->call, 0,
                                                 (unsigned char)(2 * --tests + 1));
    for (unsigned i = 0; i < 3; ++i) {
        if (!(what->compared >> i & 1)) continue;
        // The offset of the argument, which is that of its lower half on little-endian machines.
        unsigned at = (unsigned)(offsetof(struct seccomp_data, args) + 8 * i);
        step[count++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at);
        step[count++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, what->argument[i], 0,
                                                     (unsigned char)(2 * --tests + 1));
    }
    step[count++] =
        (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)what->trouble);
    return count;
}

enum { most_refusals = 64 };

// Installs a filter that refuses these calls. Exits with code 96 if the kernel has no such filters.
static void refuse_calls(const struct refusal *list, int count) {
    struct sock_filter step[most_refusals * 9 + 1];
    unsigned steps = 0;
    for (int i = 0; i < count && i < most_refusals; ++i) steps += add_refusal(step + steps, &list[i]);
    step[steps++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog filter = {(unsigned short)steps, step};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) != 0) {
        perror("seccomp");
        exit(96);
    }
}

// Refuses some system calls. For each of them, the library can use another call, or can do without.
static inline void refuse_all_that_others_do(void) {
    static const unsigned calls[] = {SYS_process_vm_readv,  SYS_process_vm_writev, SYS_membarrier,
                                     SYS_recvmmsg,          SYS_sendmmsg,          SYS_epoll_pwait2,
                                     SYS_sched_yield,       SYS_madvise,           SYS_fallocate,
                                     SYS_sched_getaffinity, SYS_getrandom};
    enum { count = sizeof calls / sizeof *calls };
    struct refusal list[count];
    for (int i = 0; i < count; ++i) list[i] = (struct refusal){calls[i], 0, {0}, EPERM};
    refuse_calls(list, count);
}

static inline void refuse_memory_of_others(void) {
    struct refusal both[] = {{SYS_process_vm_readv, 0, {0}, EPERM}, {SYS_process_vm_writev, 0, {0}, EPERM}};
    refuse_calls(both, 2);
}

// Makes the creation of threads fail with EAGAIN, as if the limit of processes were reached. Processes can
// still be created. The flags of clone3 are in memory, where a filter cannot read them. So clone3 fails
// with ENOSYS, and the C library uses clone instead.
static inline void refuse_threads(void) {
    enum {
        of_a_thread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SYSVSEM | CLONE_SIGHAND | CLONE_THREAD |
                      CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID
    };
    struct refusal both[] = {{SYS_clone3, 0, {0}, ENOSYS}, {SYS_clone, 1, {of_a_thread}, EAGAIN}};
    refuse_calls(both, 2);
}

static inline void refuse_barriers(void) {
    struct refusal one = {SYS_membarrier, 0, {0}, EPERM};
    refuse_calls(&one, 1);
}
