// See direct_copies.h.
#include "path/shm/direct_copies.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "base/clock.h"
#include "base/log.h"

namespace lanyard {

DirectCopies::DirectCopies(Segment &segment, uint32_t own, bool allowed) : segment_(segment), own_(own) {
    auto &reach = segment.member(own).reach;
    reach.probe_value = static_cast<uint64_t>(getpid()) * 0x9e3779b97f4a7c15u ^ clock_ns();
    reach.probe_address.store(reinterpret_cast<uintptr_t>(&reach.probe_value), std::memory_order_relaxed);
    reach.process.store(getpid(), std::memory_order_release);
    allow(allowed);
}

void DirectCopies::allow(bool allowed) {
    allowed_ = allowed;
    // Needed if Yama restricts direct copies to descendants.
    if (allowed) prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
}

bool DirectCopies::work_with(uint32_t member) {
    if (!allowed_) return false;
    Reach &reach = reach_[member];
    if (reach == Reach::untried) reach = try_once(member) ? Reach::works : Reach::refused;
    return reach == Reach::works;
}

bool DirectCopies::work_with_all() {
    for (uint32_t member = 0; member < reach_.size(); ++member)
        if (member != own_ && !work_with(member)) return false;
    return true;
}

bool DirectCopies::try_once(uint32_t member) const {
    const auto &reach = segment_.member(member).reach;
    uint64_t value = 0;
    iovec local{&value, sizeof value};
    iovec remote{reinterpret_cast<void *>(reach.probe_address.load(std::memory_order_relaxed)), sizeof value};
    ssize_t got = process_vm_readv(reach.process.load(std::memory_order_acquire), &local, 1, &remote, 1, 0);
    bool works = got == sizeof value && value == reach.probe_value;
    std::string why = got < 0 ? system_text(errno) : "not it";
    if (!works)
        log(LogLevel::info, "shm", "direct copies from process %d are refused (%s)", reach.process.load(),
            why.c_str());
    else log(LogLevel::debug, "shm", "direct copies from process %d are allowed", reach.process.load());
    return works;
}

Error DirectCopies::read(uint32_t member, const iovec *local, int runs, uint64_t remote_address,
                         size_t bytes) {
    iovec remote{reinterpret_cast<void *>(remote_address), bytes};
    ssize_t got = process_vm_readv(process(member), local, static_cast<size_t>(runs), &remote, 1, 0);
    if (got == static_cast<ssize_t>(bytes)) return {};
    reach_[member] = Reach::refused;
    return Error(ErrorClass::other,
                 got < 0 ? "process_vm_readv: " + system_text(errno) : "process_vm_readv read only a part");
}

Error DirectCopies::write(uint32_t member, const iovec *local, int runs, uint64_t remote_address,
                          size_t bytes) {
    iovec remote{reinterpret_cast<void *>(remote_address), bytes};
    ssize_t put = process_vm_writev(process(member), local, static_cast<size_t>(runs), &remote, 1, 0);
    if (put == static_cast<ssize_t>(bytes)) return {};
    reach_[member] = Reach::refused;
    return Error(ErrorClass::other, put < 0 ? "process_vm_writev: " + system_text(errno)
                                            : "process_vm_writev wrote only a part");
}

}  // namespace lanyard
