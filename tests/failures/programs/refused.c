// Runs a command. The kernel refuses some system calls of this command (refuse.h):
//
//   refused CALL=ERRNO,... command ...
//
// A CALL is a name from the table below or a number. Values for its first three arguments may follow it,
// separated by slashes; "*" stands for any value. `recvmmsg=EPERM,setsockopt/*/17/103=ENOSYS` refuses
// setsockopt only if its second and third arguments are 17 and 103.
#include <string.h>

#include "refuse.h"

static const struct {
    const char *name;
    unsigned number;
} calls[] = {
    {"accept4", SYS_accept4},
    {"bind", SYS_bind},
    {"clone", SYS_clone},
    {"clone3", SYS_clone3},
    {"close_range", SYS_close_range},
    {"connect", SYS_connect},
    {"epoll_create1", SYS_epoll_create1},
    {"epoll_ctl", SYS_epoll_ctl},
    {"epoll_pwait", SYS_epoll_pwait},
    {"epoll_pwait2", SYS_epoll_pwait2},
    {"epoll_wait", SYS_epoll_wait},
    {"eventfd2", SYS_eventfd2},
    {"fallocate", SYS_fallocate},
    {"ftruncate", SYS_ftruncate},
    {"futex", SYS_futex},
    {"getrandom", SYS_getrandom},
    {"getsockname", SYS_getsockname},
    {"getsockopt", SYS_getsockopt},
    {"listen", SYS_listen},
    {"madvise", SYS_madvise},
    {"membarrier", SYS_membarrier},
    {"memfd_create", SYS_memfd_create},
    {"pidfd_open", SYS_pidfd_open},
    {"pipe2", SYS_pipe2},
    {"prctl", SYS_prctl},
    {"prlimit64", SYS_prlimit64},
    {"process_vm_readv", SYS_process_vm_readv},
    {"process_vm_writev", SYS_process_vm_writev},
    {"recvfrom", SYS_recvfrom},
    {"recvmmsg", SYS_recvmmsg},
    {"recvmsg", SYS_recvmsg},
    {"rseq", SYS_rseq},
    {"sched_getaffinity", SYS_sched_getaffinity},
    {"sched_setaffinity", SYS_sched_setaffinity},
    {"sched_yield", SYS_sched_yield},
    {"sendmmsg", SYS_sendmmsg},
    {"sendmsg", SYS_sendmsg},
    {"sendto", SYS_sendto},
    {"setpgid", SYS_setpgid},
    {"setsid", SYS_setsid},
    {"setsockopt", SYS_setsockopt},
    {"signalfd4", SYS_signalfd4},
    {"socket", SYS_socket},
    {"socketpair", SYS_socketpair},
    {"statx", SYS_statx},
};

static const struct {
    const char *name;
    int number;
} troubles[] = {{"EPERM", EPERM},
                {"ENOSYS", ENOSYS},
                {"EACCES", EACCES},
                {"EINVAL", EINVAL},
                {"EAFNOSUPPORT", EAFNOSUPPORT}};

static void misused(const char *text) {
    fprintf(stderr, "refused: what is \"%s\"?\n", text);
    exit(97);
}

static unsigned number_of(const char *text) {
    char *end;
    unsigned long number = strtoul(text, &end, 0);
    if (end == text || *end) misused(text);
    return (unsigned)number;
}

static unsigned call_of(const char *text) {
    for (size_t i = 0; i < sizeof calls / sizeof *calls; ++i)
        if (!strcmp(calls[i].name, text)) return calls[i].number;
    return number_of(text);
}

static int trouble_of(const char *text) {
    for (size_t i = 0; i < sizeof troubles / sizeof *troubles; ++i)
        if (!strcmp(troubles[i].name, text)) return troubles[i].number;
    misused(text);
    return 0;
}

// Parses an item such as "CALL/1/2=ERRNO". Overwrites the separators in `text`.
static struct refusal refusal_of(char *text) {
    struct refusal what = {0};
    char *trouble = strchr(text, '=');
    if (!trouble) misused(text);
    *trouble = 0;
    what.trouble = trouble_of(trouble + 1);
    char *left = strchr(text, '/');
    if (left) *left++ = 0;
    what.call = call_of(text);
    for (unsigned i = 0; left && i < 3; ++i) {
        char *argument = left;
        left = strchr(left, '/');
        if (left) *left++ = 0;
        if (!strcmp(argument, "*")) continue;
        what.compared |= 1u << i;
        what.argument[i] = number_of(argument);
    }
    return what;
}

int main(int count, char **words) {
    struct refusal list[most_refusals];
    int refusals = 0;
    if (count < 3) misused("");
    for (char *text = strtok(words[1], ","); text && refusals < most_refusals; text = strtok(NULL, ",")) {
        // refusal_of() does not use strtok, so the next strtok continues after this item.
        list[refusals++] = refusal_of(text);
    }
    refuse_calls(list, refusals);
    execv(words[2], words + 2);
    perror(words[2]);
    return 95;
}
