// Examines the machine: the granted processors, shared memory, reading the memory of another process,
// datagrams, and libraries. Used by doctor.cc.
// Tested by: tests/command/test_lanyard.py, tests/failures/test_machine.py.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

#include "base/crc32c.h"
#include "base/error.h"
#include "base/processors.h"
#include "net/fabric.h"
#include "net/udp_packets.h"
#include "path/shm/segment.h"
#include "tools/finding.h"

namespace lanyard::tools {

namespace {

std::string first_line(const std::string &path) {
    std::ifstream stream(path);
    std::string line;
    std::getline(stream, line);
    return line;
}

// Tries whether a process may read the memory of another process with the same parent, as ranks have. Starts
// two processes, the second of which reads memory of the first by process_vm_readv. Returns 0, or the errno
// of the refusal. If `consent` is true, the first process allows all processes to read its memory, which the
// security module Yama requires.
int read_sibling(bool consent) {
    static char offered[] = "bytes of another process", fetched[sizeof offered];
    int ready[2];
    if (pipe2(ready, O_CLOEXEC) != 0) return errno;
    pid_t owner = fork();
    if (owner == 0) {
        if (consent) prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
        char byte = 1;
        if (write(ready[1], &byte, 1) != 1) _exit(1);
        for (;;) pause();
    }
    pid_t reader = owner < 0 ? -1 : fork();
    if (reader == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        char byte;
        if (read(ready[0], &byte, 1) != 1) _exit(EIO);
        iovec local{fetched, sizeof fetched}, remote{offered, sizeof offered};
        _exit(process_vm_readv(owner, &local, 1, &remote, 1, 0) == sizeof offered ? 0 : errno);
    }
    int refusal = EAGAIN, status = 0;
    if (reader > 0 && waitpid(reader, &status, 0) == reader && WIFEXITED(status))
        refusal = WEXITSTATUS(status);
    if (owner > 0) {
        kill(owner, SIGKILL);
        waitpid(owner, nullptr, 0);
    }
    close(ready[0]);
    close(ready[1]);
    return refusal;
}

std::string remedy_for_refused_reading() {
    std::string scope = first_line("/proc/sys/kernel/yama/ptrace_scope");
    if (scope == "1" || scope == "2")
        return "as root: sysctl kernel.yama.ptrace_scope=0 (it is " + scope + ")";
    if (scope == "3")
        return "kernel.yama.ptrace_scope is 3, which only a restart with another setting changes";
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.rfind("Seccomp:", 0) == 0 && line.find('2') != std::string::npos)
            return "a seccomp filter refuses it; with Docker: docker run --cap-add=SYS_PTRACE, with Podman "
                   "the same";
    return "none is known for this machine";
}

std::string size_in_words(double bytes) {
    if (bytes < 1 << 20) return fmt::format("{:.0f} KiB", std::floor(bytes / 1024));
    return bytes >= 10e9 ? fmt::format("{:.0f} GiB", bytes / (1 << 30))
                         : fmt::format("{:.0f} MiB", bytes / (1 << 20));
}

}  // namespace

Finding examine_processors() {
    auto affinity = static_cast<int>(allowed_processors().size());
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    double granted = processor_quota();
    std::string sentence = fmt::format("{} of {} online may be used", affinity, online);
    if (granted == 0 || granted >= affinity)
        return {Verdict::good, "processors", sentence + ", no cgroup limit below that", "", ""};
    sentence += fmt::format(", but the cgroup grants only {:.4g}", granted);
    double polling = std::max(1.0, std::floor(granted));
    return {
        Verdict::note, "processors", sentence,
        fmt::format(
            "with more than {:.0f} ranks on this machine, waiting ranks yield and sleep instead of polling",
            polling),
        "raise the limit (Docker: --cpus, Kubernetes: resources.limits.cpu), or start fewer ranks"};
}

// The finding that the folder for shared memory cannot be used.
Finding without_folder(const std::string &sentence, const std::string &remedy) {
    const char *instead =
        "mpirun gives its ranks a memory file; under other launchers, ranks send messages over the network's "
        "path, which is slower";
    return {Verdict::note, "shared memory", sentence, instead, remedy};
}

Finding examine_shared_memory(const Settings &settings) {
    const std::string subject = "shared memory", &folder = settings.shm_dir;
    struct statvfs space {};
    if (statvfs(folder.c_str(), &space) != 0)
        return without_folder(fmt::format("{}: {}", folder, system_text(errno)),
                              "mount a tmpfs there, or name another folder in memory with LANYARD_SHM_DIR");
    int file = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file < 0)
        return without_folder(fmt::format("no file can be made in {}: {}", folder, system_text(errno)),
                              "make it writable (a tmpfs with mode 1777), or name another folder in memory "
                              "with LANYARD_SHM_DIR");
    close(file);
    double unit = static_cast<double>(space.f_frsize);
    double size = unit * static_cast<double>(space.f_blocks),
           left = unit * static_cast<double>(space.f_bavail);
    std::string sentence =
        fmt::format("{} has {}, of which {} are free", folder, size_in_words(size), size_in_words(left));
    bool usual = std::filesystem::path(folder).lexically_normal() == "/dev/shm";
    std::string remedy =
        usual
            ? "Docker: --shm-size=64m or more; Kubernetes: an emptyDir with medium: Memory at /dev/shm"
            : "enlarge the file system of this folder, or name another folder in memory with LANYARD_SHM_DIR";
    auto least = static_cast<double>(Segment::least_bytes(2));
    bool limited = space.f_blocks > 0;
    if (limited && left < least)
        return without_folder(fmt::format("{}; two ranks need {:.0f} KiB", sentence, std::ceil(least / 1024)),
                              remedy);
    constexpr double enough = 64.0 * 1024 * 1024;  // enough for 64 ranks
    if (!limited || left >= enough) return {Verdict::good, subject, sentence, "", ""};
    return {Verdict::note, subject, sentence + "; 64 MiB are enough for 64 ranks",
            "a job that needs more uses a memory file, or sends messages over the network's path", remedy};
}

Finding examine_long_messages(const Settings &settings) {
    const std::string subject = "long messages",
                      instead = "long messages pass through shared memory in two copies, about half as fast";
    if (!settings.cma) return {Verdict::note, subject, "LANYARD_CMA=off", instead, "unset LANYARD_CMA"};
    if (read_sibling(false) == 0)
        return {Verdict::good, subject, "a process may read its neighbour's memory (process_vm_readv)", "",
                ""};
    int refusal = read_sibling(true);
    if (refusal == 0)
        return {Verdict::good, subject,
                "a process may read its neighbour's memory with the neighbour's consent, which Lanyard "
                "gives",
                "", ""};
    return {
        Verdict::note, subject,
        fmt::format("reading a neighbour's memory (process_vm_readv) is refused: {}", system_text(refusal)),
        instead, remedy_for_refused_reading()};
}

Finding examine_datagrams(const Settings &settings) {
    const std::string subject = "datagrams";
    bool used = names_path(settings, "dgram");
    std::string unused = used ? "" : ", which LANYARD_PATHS=" + settings.paths + " does not use";
    Verdict trouble = used ? Verdict::problem : Verdict::note;
    Address loopback;
    parse_address("127.0.0.1", loopback);
    if (settings.dgram_io != "udp") {
        FabricChoice choice;
        choice.provider = fabric_provider(settings.dgram_io);
        choice.addresses = {loopback};
        std::unique_ptr<PacketIo> packets;
        if (Error error = open_fabric(choice, packets))
            return {trouble, subject, error.take().sentence + unused, "",
                    "unset LANYARD_DGRAM_IO; datagrams then use UDP"};
        return {Verdict::good, subject, packets->describe() + unused, "", ""};
    }
    UdpPackets::Options options;
    if (settings.socket_buffer > 0) options.buffer = static_cast<int>(settings.socket_buffer);
    UdpPackets udp(options);
    if (Error error = udp.open({loopback}, 0, 0))
        return {trouble, subject, error.take().sentence + unused, "", "use tcp instead of dgram"};
    std::string sentence = fmt::format("a UDP socket gets {} of buffer", size_in_words(udp.granted_buffer()));
    if (udp.granted_buffer() >= options.buffer) return {Verdict::good, subject, sentence + unused, "", ""};
    sentence += fmt::format(" of the {} wanted", size_in_words(options.buffer));
    // A small buffer does not matter for a path that is not used.
    if (!used) return {Verdict::good, subject, sentence + unused, "", ""};
    return {Verdict::note, subject, sentence,
            "if many processes send at once, packets that do not fit are lost and sent again",
            fmt::format("as root: sysctl net.core.rmem_max={}", options.buffer)};
}

Finding examine_checksums(const Settings &settings) {
    const std::string subject = "checksums";
    Crc32c crc;
    Error error = Crc32c::load(crc);
    std::string state = settings.checksum ? "LANYARD_CHECKSUM=on" : "LANYARD_CHECKSUM is off";
    if (!error)
        return {Verdict::good, subject, state + "; ISA-L, which computes them, can be loaded", "", ""};
    if (settings.checksum)
        return {Verdict::problem, subject, error.take().sentence, "",
                "apt-get install libisal2, or unset LANYARD_CHECKSUM"};
    error.discard();
    // If checksums were not requested, it does not matter that ISA-L is missing.
    return {Verdict::good, subject,
            state + "; ISA-L, which LANYARD_CHECKSUM=on needs, is not installed (apt-get install libisal2)",
            "", ""};
}

}  // namespace lanyard::tools
