// Neighbouring ranks exchange long messages in both directions at once. Meanwhile they lose the right to
// access each other's memory. The program verifies all bytes of the messages and of the gaps between them.
//
//   midway seccomp|dumpable first|all [MICROSECONDS]
//       Rank 0 (first) or every rank (all) either lets the kernel refuse its own calls (seccomp), or
//       closes its memory to other processes (dumpable). It does so between messages, or
//       MICROSECONDS after messages have begun.
//   midway reads|writes refuse|once|part first|all N
//       After the first round, N more calls of this kind succeed. Then all calls fail (refuse), or
//       only one call fails (once) or moves only a part of its bytes (part).
//
// Prints "right: DIRECT FAILED": how many direct copies succeeded before the change, and how many failed
// after it.
#define _GNU_SOURCE
#include <linux/capability.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "refuse.h"

enum { block = 4096, stride = 4160, at_once = 4, period = 65537 };
static const size_t sizes[] = {64 << 10, 1 << 20, 20 << 20};
static const size_t longest = 20 << 20, room = (20 << 20) / block * stride;

static int rank, size, to, from, number;  // number: the number of messages so far
static unsigned char *text, *strips, *in[at_once];

// The copies between processes. The library calls these functions, not those of libc ---------------

static struct {
    const char *of, *how;
    long left;  // number of calls that still succeed before the fault; -1: no fault
} fault = {"", "", -1};
static long direct, failed;

// Decides what happens to a call: 0: it fails; 1: it moves a part of its bytes; 2: it succeeds.
static int fate(const char *of) {
    if (fault.left < 0 || strcmp(of, fault.of) != 0) return 2;
    if (fault.left > 0) return --fault.left, 2;
    if (strcmp(fault.how, "refuse") != 0) fault.left = -1;
    return strcmp(fault.how, "part") == 0;
}

static ssize_t copy(long call, pid_t process, const struct iovec *own, unsigned long owns,
                    const struct iovec *others, unsigned long count) {
    struct iovec part = *own;
    int how = fate(call == SYS_process_vm_readv ? "reads" : "writes");
    size_t wanted = 0;
    for (unsigned long i = 0; i < owns; ++i) wanted += own[i].iov_len;
    if (how == 1) part.iov_len /= 2, own = &part, owns = 1;
    if (how == 0) errno = EPERM;
    ssize_t done = how == 0 ? -1 : syscall(call, process, own, owns, others, count, 0);
    if (done == (ssize_t)wanted) direct += wanted >= block;
    else ++failed;
    return done;
}

ssize_t process_vm_readv(pid_t process, const struct iovec *own, unsigned long owns,
                         const struct iovec *others, unsigned long count, unsigned long flags) {
    (void)flags;
    return copy(SYS_process_vm_readv, process, own, owns, others, count);
}

ssize_t process_vm_writev(pid_t process, const struct iovec *own, unsigned long owns,
                          const struct iovec *others, unsigned long count, unsigned long flags) {
    (void)flags;
    return copy(SYS_process_vm_writev, process, own, owns, others, count);
}

// What the kernel refuses ---------------------------------------------------------------------------------

// Gives up CAP_SYS_PTRACE. Without it, a process may read the memory of another process only if both belong
// to the same user and the other process allows it.
static void drop_right_to_trace(void) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2];
    if (syscall(SYS_capget, &header, data) != 0) exit(98);
    data[0].effective &= ~(1u << CAP_SYS_PTRACE);
    data[0].permitted &= ~(1u << CAP_SYS_PTRACE);
    data[0].inheritable &= ~(1u << CAP_SYS_PTRACE);
    if (syscall(SYS_capset, &header, data) != 0) exit(98);
}

static const char *how;
static long delay_us = -1;

static void *withdraw(void *unused) {
    (void)unused;
    if (delay_us > 0) usleep((useconds_t)delay_us);
    if (!strcmp(how, "seccomp")) refuse_memory_of_others();
    else if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) exit(98);
    return NULL;
}

// The messages --------------------------------------------------------------------------------------------

// Each message is a part of one long text. The position of this part depends on the sender and on the
// message's number.
static size_t place_of(int sender, int message) { return (size_t)(sender * 4099 + message % 4096 * 16 + 1); }

static void expect(const unsigned char *data, size_t bytes, size_t piece, size_t step, int message) {
    const unsigned char *wanted = text + place_of(from, message);
    for (size_t at = 0; at < bytes; at += piece, data += step) {
        size_t gap = step - piece;
        int right = memcmp(data, wanted + at, piece) == 0;
        for (size_t i = 0; i < gap; ++i) right &= data[piece + i] == 0xee;
        if (right) continue;
        fprintf(stderr,
                "rank %d: of message %d, %zu bytes from rank %d, something is wrong from byte %zu on\n",
                rank, message, bytes, from, at);
        MPI_Abort(MPI_COMM_WORLD, 77);
    }
    if (*data != 0xee)
        fprintf(stderr, "rank %d: something was written behind message %d\n", rank, message),
            MPI_Abort(MPI_COMM_WORLD, 77);
}

static void clear(unsigned char *data, size_t bytes) { memset(data, 0xee, bytes + 1); }

// Exchanges four messages at once: contiguous, into strips, from strips, and synchronous. Strips
// are blocks with gaps between them.
static void nonblocking(size_t bytes) {
    size_t blocks = bytes / block, in_strips = blocks * stride;
    MPI_Request requests[2 * at_once];
    MPI_Datatype type;
    MPI_Type_vector((int)blocks, block, stride, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < at_once; ++i) {
        clear(in[i], i == 1 ? in_strips : bytes);
        if (i == 1) MPI_Irecv(in[i], 1, type, from, i, MPI_COMM_WORLD, &requests[i]);
        else MPI_Irecv(in[i], (int)bytes, MPI_BYTE, from, i, MPI_COMM_WORLD, &requests[i]);
    }
    for (size_t i = 0; i < blocks; ++i)
        memcpy(strips + i * stride, text + place_of(rank, number + 2) + i * block, block);
    for (int i = 0; i < at_once; ++i) {
        const unsigned char *out = text + place_of(rank, number + i);
        if (i == 2) MPI_Isend(strips, 1, type, to, i, MPI_COMM_WORLD, &requests[at_once + i]);
        else if (i == 3) MPI_Issend(out, (int)bytes, MPI_BYTE, to, i, MPI_COMM_WORLD, &requests[at_once + i]);
        else MPI_Isend(out, (int)bytes, MPI_BYTE, to, i, MPI_COMM_WORLD, &requests[at_once + i]);
    }
    MPI_Waitall(2 * at_once, requests, MPI_STATUSES_IGNORE);
    MPI_Type_free(&type);
    for (int i = 0; i < at_once; ++i)
        expect(in[i], bytes, i == 1 ? block : bytes, i == 1 ? stride : bytes, number + i);
    number += at_once;
}

// Exchanges messages in both directions with one call, and then in one direction after the other.
static void blocking(size_t bytes) {
    clear(in[0], bytes);
    MPI_Sendrecv(text + place_of(rank, number), (int)bytes, MPI_BYTE, to, 5, in[0], (int)bytes, MPI_BYTE,
                 from, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect(in[0], bytes, bytes, bytes, number++);
    clear(in[0], bytes);
    for (int step = 0; step < 2; ++step) {
        if ((rank == 0) == (step == 0))
            MPI_Send(text + place_of(rank, number), (int)bytes, MPI_BYTE, to, 6, MPI_COMM_WORLD);
        else MPI_Recv(in[0], (int)bytes, MPI_BYTE, from, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    expect(in[0], bytes, bytes, bytes, number++);
}

static void exchange(void) {
    for (size_t i = sizeof sizes / sizeof *sizes; i-- > 0;) {
        nonblocking(sizes[i]);
        blocking(sizes[i]);
    }
}

static long sum(long mine) {
    long all;
    MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static void make_memory(void) {
    size_t all = longest + place_of(8, 4096);
    text = malloc(all);
    strips = malloc(room + 1);
    for (int i = 0; i < at_once; ++i) in[i] = malloc((i == 1 ? room : longest) + 1);
    for (size_t at = 0; at < all && at < period; ++at)
        text[at] = (unsigned char)((unsigned)at * 2654435761u >> 24);
    for (size_t at = period; at < all; at += period)
        memcpy(text + at, text, all - at < period ? all - at : period);
}

int main(int count, char **words) {
    how = words[1];
    int of_calls = !strcmp(how, "reads") || !strcmp(how, "writes"),
        all = !strcmp(words[of_calls ? 3 : 2], "all");
    if (!of_calls && count > 3) delay_us = atol(words[3]);
    if (!strcmp(how, "dumpable")) drop_right_to_trace();
    make_memory();
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    to = (rank + 1) % size, from = (rank + size - 1) % size;
    exchange();
    long direct_before = sum(direct), failed_before = failed;
    pthread_t thread;
    int here = rank == 0 || all;
    if (of_calls && here) fault.of = how, fault.how = words[2], fault.left = atol(words[4]);
    if (!of_calls && here && delay_us < 0) withdraw(NULL);
    if (!of_calls && here && delay_us >= 0) pthread_create(&thread, NULL, withdraw, NULL);
    // Timing decides how much each side copies, so it may take several rounds until the call with the
    // fault is made.
    for (int round = 0; round < 2 || (of_calls && round < 40 && sum(failed - failed_before) == 0); ++round)
        exchange();
    if (!of_calls && here && delay_us >= 0) pthread_join(thread, NULL);
    exchange();
    long failed_later = sum(failed - failed_before);
    if (rank == 0) printf("right: %ld %ld\n", direct_before, failed_later);
    return MPI_Finalize();
}
