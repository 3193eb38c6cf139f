// See origin.h.
#include "bootstrap/origin.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>

namespace lanyard {

namespace {

constexpr char connection_prefix[] = "lanyard-pmi-";
constexpr int most_ancestors = 1000;
// The most connections that wait to be accepted. No connection is ever accepted, and a connection that was
// closed still counts. If there are more, holder_of() returns -1: the seat is held.
constexpr int most_questions = 64;

// Makes a socket address from an abstract name, which leaves no file behind.
socklen_t abstract_address(const std::string &name, sockaddr_un &address) {
    address = {};
    address.sun_family = AF_UNIX;
    size_t length = std::min(name.size(), sizeof address.sun_path - 1);
    memcpy(address.sun_path + 1, name.data(), length);
    return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
}

bool bind_to(int descriptor, const std::string &name) {
    sockaddr_un address;
    socklen_t length = abstract_address(name, address);
    return bind(descriptor, reinterpret_cast<sockaddr *>(&address), length) == 0;
}

std::string name_of(const Seat &seat) { return "lanyard-rank-" + seat.job + "-" + std::to_string(seat.rank); }

// Only the process itself takes this seat, because the seat names the process and its namespace.
Seat seat_of_process(pid_t pid) {
    struct stat own {};
    stat("/proc/self/ns/pid", &own);
    return {"process@" + std::to_string(own.st_ino), pid};
}

int open_socket() { return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); }

std::string contents_of(const std::string &path) {
    std::string text;
    int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return text;
    char chunk[4096];
    for (ssize_t count; (count = read(fd, chunk, sizeof chunk)) > 0;)
        text.append(chunk, static_cast<size_t>(count));
    close(fd);
    return text;
}

// The value of a variable in a block of "NAME=VALUE" strings, each ended by a zero; nullptr if it is absent.
const char *find_in(const std::string &block, const char *name) {
    size_t length = strlen(name);
    for (size_t at = 0; at < block.size(); at += strlen(block.c_str() + at) + 1) {
        const char *entry = block.c_str() + at;
        if (strncmp(entry, name, length) == 0 && entry[length] == '=') return entry + length + 1;
    }
    return nullptr;
}

// The environment with which this process was started, which the kernel keeps. It is used only if the program
// has removed more than half of its variables: such a program has cleared its environment, and with it the
// launcher's variables. A program that removes a few variables does so on purpose.
class FirstEnvironment {
public:
    FirstEnvironment() : block_(contents_of("/proc/self/environ")) {
        size_t names = 0, kept = 0;
        for (size_t at = 0; at < block_.size(); at += strlen(block_.c_str() + at) + 1) {
            std::string entry = block_.c_str() + at;
            ++names;
            kept += getenv(entry.substr(0, entry.find('=')).c_str()) != nullptr;
        }
        cleared_ = 2 * kept < names;
    }
    const char *find(const char *name) const { return cleared_ ? find_in(block_, name) : nullptr; }

private:
    std::string block_;
    bool cleared_ = false;
};

std::optional<Seat> make_seat(const char *job, const char *rank, const char *size) {
    if (!job || !job[0] || !rank || !size) return std::nullopt;
    Seat seat{job, atoi(rank), atoi(size)};
    if (seat.rank < 0 || seat.rank >= seat.size) return std::nullopt;
    return seat;
}

std::optional<Seat> seat_in(const std::string &block) {
    return make_seat(find_in(block, "LANYARD_JOB"), find_in(block, "LANYARD_RANK"),
                     find_in(block, "LANYARD_SIZE"));
}

// Reads the name and the parent of a process from its line in /proc, "PID (NAME) STATE PARENT ...". The name
// may contain any character.
bool read_process(pid_t pid, std::string &name, pid_t &parent) {
    std::string text = contents_of("/proc/" + std::to_string(pid) + "/stat");
    size_t begin = text.find('('), end = text.rfind(')');
    if (begin == std::string::npos || end == std::string::npos) return false;
    name = text.substr(begin + 1, end - begin - 1);
    char state;
    return sscanf(text.c_str() + end + 1, " %c %d", &state, &parent) == 2;
}

}  // namespace

bool name_connection(int descriptor, const Seat &seat) {
    return bind_to(descriptor, connection_prefix + seat.job + "-" + std::to_string(seat.rank) + "-" +
                                   std::to_string(seat.size) + "-" + std::to_string(seat.segment_fd));
}

std::optional<Seat> seat_of_connection(int descriptor) {
    sockaddr_un address{};
    socklen_t length = sizeof address;
    if (descriptor < 0 || getpeername(descriptor, reinterpret_cast<sockaddr *>(&address), &length) != 0)
        return std::nullopt;
    constexpr size_t before = offsetof(sockaddr_un, sun_path) + 1;
    if (address.sun_family != AF_UNIX || length <= before || length >= sizeof address || address.sun_path[0])
        return std::nullopt;
    std::string name(address.sun_path + 1, length - before);
    if (!name.starts_with(connection_prefix)) return std::nullopt;
    Seat seat;
    char job[sizeof address.sun_path] = "";
    if (sscanf(name.c_str() + strlen(connection_prefix), "%[^-]-%d-%d-%d", job, &seat.rank, &seat.size,
               &seat.segment_fd) != 4)
        return std::nullopt;
    seat.job = job;
    return seat;
}

std::optional<Seat> find_connection(int &descriptor) {
    std::optional<Seat> found;
    DIR *folder = opendir("/proc/self/fd");
    if (!folder) return found;
    int latest = -1;
    while (dirent *entry = readdir(folder)) {
        int fd = atoi(entry->d_name);
        if (fd <= latest) continue;
        std::optional<Seat> seat = seat_of_connection(fd);
        if (!seat) continue;
        found = std::move(seat);
        latest = fd;
    }
    closedir(folder);
    if (found) descriptor = latest;
    return found;
}

pid_t holder_of(const Seat &seat) {
    int asking = open_socket();
    if (asking < 0) return 0;
    sockaddr_un address;
    socklen_t length = abstract_address(name_of(seat), address);
    ucred holder{};
    socklen_t holder_length = sizeof holder;
    pid_t pid = 0;
    if (connect(asking, reinterpret_cast<sockaddr *>(&address), length) == 0) {
        bool known =
            getsockopt(asking, SOL_SOCKET, SO_PEERCRED, &holder, &holder_length) == 0 && holder.pid > 0;
        pid = known ? holder.pid : -1;
        // After the holder has ended, a child that it created by fork() may keep the socket open.
        if (known && kill(pid, 0) != 0 && errno == ESRCH) pid = 0;
    } else if (errno == EAGAIN) pid = -1;
    close(asking);
    return pid;
}

pid_t claim(const Seat &seat) {
    int held = open_socket();
    if (held < 0) return 0;
    if (bind_to(held, name_of(seat)) && listen(held, most_questions) == 0) return 0;
    close(held);
    pid_t other = holder_of(seat);
    return other == getpid() ? 0 : other;
}

void claim_process() { claim(seat_of_process(getpid())); }

bool below_such_process(std::span<const char *const> starters) {
    pid_t pid = getppid();
    std::string name;
    for (int level = 0; level < most_ancestors && pid > 0; ++level) {
        pid_t parent = 0;
        bool read = read_process(pid, name, parent);
        if (!read || std::find(starters.begin(), starters.end(), name) != starters.end()) return false;
        // -1: the process has been asked too often.
        if (pid_t holder = holder_of(seat_of_process(pid)); holder == pid || holder == -1) return true;
        pid = parent;
    }
    return false;
}

const char *started_with(const char *name) {
    static const FirstEnvironment first;
    const char *now = getenv(name);
    return now ? now : first.find(name);
}

std::optional<Seat> seat_told() {
    return make_seat(started_with("LANYARD_JOB"), started_with("LANYARD_RANK"), started_with("LANYARD_SIZE"));
}

Ancestry read_ancestry() {
    Ancestry ancestry;
    pid_t pid = getppid();
    for (int level = 0; level < most_ancestors && pid > 0; ++level) {
        std::string name;
        pid_t parent = 0;
        if (!read_process(pid, name, parent)) break;
        if (level == 0) ancestry.parent = name;
        ancestry.under_mpirun = name == "lanyard-guard";
        if (ancestry.under_mpirun) return ancestry;
        if (!ancestry.seat) ancestry.seat = seat_in(contents_of("/proc/" + std::to_string(pid) + "/environ"));
        pid = parent;
    }
    ancestry.seat.reset();
    return ancestry;
}

}  // namespace lanyard
