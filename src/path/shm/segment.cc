// See segment.h.
#include "path/shm/segment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <string_view>

#include "base/copy.h"
#include "base/growing.h"
#include "base/log.h"
#include "base/valgrind.h"

namespace lanyard {

namespace {

const size_t page_bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));

// Every member has the whole MemberControl, although a small job uses only the beginning of the inbox. This
// costs at most 8 KiB per member. The cells follow at this offset.
constexpr size_t cells_offset = (sizeof(MemberControl) + 4095) / 4096 * 4096 + off_page;

size_t whole_pages(size_t bytes) { return (bytes + page_bytes - 1) / page_bytes * page_bytes; }

size_t member_bytes(uint32_t cells) { return whole_pages(cells_offset + cells * cell_bytes); }

size_t rings_bytes(uint32_t members) {
    return static_cast<size_t>(members) * (members - 1) * Segment::ring_room();
}

size_t header_bytes() { return whole_pages(sizeof(SegmentHeader)); }

// Free bytes on the file system behind the descriptor. UINT64_MAX: it has no size limit (a file system in
// memory then reports 0 blocks), or the system does not report the number.
uint64_t available_bytes(int descriptor) {
    struct statvfs about;
    if (fstatvfs(descriptor, &about) != 0 || about.f_blocks == 0) return UINT64_MAX;
    return static_cast<uint64_t>(about.f_bavail) * about.f_frsize;
}

// The longest file that this process may create (ulimit -f). Writing beyond this length raises SIGXFSZ.
uint64_t longest_file() {
    rlimit limit{};
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? limit.rlim_cur
                                                                                   : UINT64_MAX;
}

// Like posix_fallocate. On some kernels, posix_fallocate gives back everything it has taken when the program
// catches a signal. allocate() therefore allocates in parts. Each part is short enough to succeed even if a
// timer sends the program signals all the time.
int allocate(int descriptor, uint64_t from, uint64_t bytes) {
    constexpr uint64_t part = 1 << 20;
    if (from + bytes > longest_file()) return EFBIG;
    for (uint64_t end = from + bytes; from < end;) {
        uint64_t next = std::min(end, from + part);
        int failure = posix_fallocate(descriptor, static_cast<off_t>(from), static_cast<off_t>(next - from));
        if (failure == 0) from = next;
        else if (failure != EINTR) return failure;
    }
    return 0;
}

void give_back(int descriptor, uint64_t from, uint64_t bytes) {
    fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(from),
              static_cast<off_t>(bytes));
}

// Like allocate(), for memory that no process uses yet: a failure leaves nothing allocated.
int allocate_all(int descriptor, uint64_t from, uint64_t bytes) {
    int failure = allocate(descriptor, from, bytes);
    if (failure != 0) give_back(descriptor, from, bytes);
    return failure;
}

std::string in_kib(uint64_t bytes) { return std::to_string((bytes + 1023) / 1024) + " KiB"; }

// Returns " in FOLDER", even if the file has been unlinked or never had a name. Returns an empty text if the
// system does not report the folder.
std::string folder_of(int descriptor) {
    char path[512];
    ssize_t length = readlink(("/proc/self/fd/" + std::to_string(descriptor)).c_str(), path, sizeof path);
    std::string_view name(path, length > 0 ? static_cast<size_t>(length) : 0);
    size_t end = name.rfind('/');
    return end == name.npos || end == 0 ? "" : " in " + std::string(name.substr(0, end));
}

// Returns what the user can do if the folder with the descriptor's file is full.
std::string more_room(int descriptor) {
    bool usual = folder_of(descriptor) == " in /dev/shm";
    return std::string(usual ? "enlarge it (containers: --shm-size)"
                             : "enlarge the file system of this folder") +
           ", or set LANYARD_SHM_DIR to a folder in memory with more room";
}

Error shortage(int descriptor, uint32_t members, uint64_t needed, uint64_t available) {
    return Error(ErrorClass::no_mem, std::to_string(members) + " processes on this node need " +
                                         in_kib(needed) + " of shared memory, but only " + in_kib(available) +
                                         " are free" + folder_of(descriptor) + "; " + more_room(descriptor) +
                                         ", or start fewer processes");
}

Error shortage_by_limit(uint32_t members, uint64_t needed) {
    return Error(ErrorClass::no_mem, std::to_string(members) + " processes on this node need " +
                                         in_kib(needed) +
                                         " of shared memory, and files may not be longer than " +
                                         in_kib(longest_file()) + " here; raise that limit (ulimit -f)");
}

// Returns the offset at which the blocks may begin. Before it the file has room for members, rings and areas.
uint64_t end_of_appended(uint32_t members, uint32_t cells) {
    constexpr uint64_t room_for_areas = uint64_t{256} << 20;
    return header_bytes() + members * member_bytes(cells) + rings_bytes(members) + room_for_areas;
}

std::string version_of(uint64_t magic) { return {static_cast<char>(magic >> 48)}; }

// Returns an error if this is not the label of a Lanyard segment with this version's layout.
Error check_label(const SegmentLabel &label) {
    constexpr uint64_t name_bytes = 0xffffffffffff;
    if (label.magic == segment_magic) return {};
    if ((label.magic & name_bytes) != (segment_magic & name_bytes))
        return Error(ErrorClass::other, "the file for shared memory holds something else");
    return Error(ErrorClass::other, "the shared memory of this node has version " + version_of(label.magic) +
                                        " of its layout, and this process needs version " +
                                        version_of(segment_magic) +
                                        ": all processes of a node need the same Lanyard");
}

uint64_t fixed_bytes(uint32_t members) {
    return header_bytes() + rings_bytes(members) + members * member_bytes(0);
}

}  // namespace

Segment::~Segment() {
    if (base_) munmap(base_, mapped_);
    if (descriptor_ >= 0) close(descriptor_);
}

uint64_t Segment::ring_room() { return whole_pages(ring_bytes); }

uint64_t Segment::least_bytes(uint32_t members) {
    return fixed_bytes(members) + static_cast<uint64_t>(members) * fewest_cells * cell_bytes;
}

Error Segment::create(int descriptor, uint32_t members) {
    if (members > most_members)
        return Error(ErrorClass::other, std::to_string(members) +
                                            " processes on one node are more than the " +
                                            std::to_string(most_members) + " supported");
    uint64_t free = available_bytes(descriptor), available = std::min(free, longest_file());
    uint64_t fixed = fixed_bytes(members), least = least_bytes(members);
    if (least > longest_file()) return shortage_by_limit(members, least);
    if (least > available) return shortage(descriptor, members, least, available);
    uint64_t affordable = (available - fixed) / (static_cast<uint64_t>(members) * cell_bytes);
    auto cells = static_cast<uint32_t>(std::min<uint64_t>(affordable, most_cells));

    uint64_t used = header_bytes() + members * member_bytes(cells);
    if (int failure = allocate_all(descriptor, 0, used)) {
        if (failure == ENOSPC) return shortage(descriptor, members, least, available);
        return Error(ErrorClass::no_mem,
                     "allocating " + in_kib(used) + " of shared memory failed: " + system_text(failure));
    }
    uint32_t capacity = most_members;
    uint64_t limit = end_of_appended(capacity, cells);
    if (limit > longest_file()) {
        capacity = members;
        limit = std::min(end_of_appended(capacity, cells), longest_file());
    }
    void *start = mmap(nullptr, header_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (start == MAP_FAILED)
        return Error(ErrorClass::no_mem, "mapping the shared memory failed: " + system_text(errno));
    auto *header = new (start) SegmentHeader{};
    header->cells = cells;
    header->members_offset = header_bytes();
    header->member_bytes = member_bytes(cells);
    header->appended.store(header_bytes() + capacity * member_bytes(cells), std::memory_order_relaxed);
    header->limit = limit;
    header->blocks_end = whole_pages(header->limit);
    header->capacity = capacity;
    header->label.members = members;
    header->label.record_bytes = sizeof(WaitRecord);
    header->label.first_record = header->members_offset + offsetof(MemberControl, wait);
    header->label.record_stride = header->member_bytes;
    header->label.magic = segment_magic;
    header->ready = 1;
    log(LogLevel::debug, "shm",
        "made the node's segment: %llu KiB for %u processes with %u buffers of %zu KiB each; it may grow to "
        "%llu KiB",
        static_cast<unsigned long long>(used / 1024), members, cells, cell_bytes / 1024,
        static_cast<unsigned long long>(header->limit / 1024));
    munmap(start, header_bytes());
    return {};
}

Error Segment::attach(int descriptor) {
    void *start = mmap(nullptr, header_bytes(), PROT_READ, MAP_SHARED, descriptor, 0);
    if (start == MAP_FAILED)
        return Error(ErrorClass::no_mem, "mapping the shared memory failed: " + system_text(errno));
    const auto *header = static_cast<const SegmentHeader *>(start);
    // When a process ends, memcheck searches all its memory for leaks. For each page without memory it would
    // need a fault, and the unused places have more than 100,000 such pages.
    bool only_members = addresses_are_scarce() || under_valgrind();
    uint32_t places =
        only_members ? members_of(header->label).load(std::memory_order_acquire) : header->capacity;
    size_t bytes = header->members_offset + places * header->member_bytes;
    Error error = check_label(header->label);
    munmap(start, header_bytes());
    if (error) return error;
    void *all = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (all == MAP_FAILED)
        return Error(ErrorClass::no_mem,
                     "mapping " + in_kib(bytes) + " of shared memory failed: " + system_text(errno));
    base_ = static_cast<std::byte *>(all);
    mapped_ = bytes;
    places_ = places;
    descriptor_ = descriptor;
    log(LogLevel::debug, "shm", "attached to the node's segment: %zu KiB of addresses", mapped_ / 1024);
    return {};
}

Error Segment::append_member(uint32_t &index) {
    std::atomic_ref<uint32_t> members = members_of(header().label);
    index = members.load(std::memory_order_acquire);
    do {
        if (index >= places_)
            return Error(ErrorClass::other,
                         "the shared memory of this node has room for " + std::to_string(places_) +
                             " processes" +
                             (places_ < most_members
                                  ? "; more need a higher limit of addresses or files (ulimit -v, -f)"
                                  : ""));
        uint64_t bytes = header().member_bytes, offset = header().members_offset + index * bytes;
        // The memory is allocated before other processes can see the member. Several processes may allocate
        // the same place; this does not change what is already there. A failure gives nothing back, since
        // another process may have added the member meanwhile.
        if (allocate(descriptor_, offset, bytes) != 0)
            return shortage(descriptor_, index + 1, bytes, available_bytes(descriptor_));
    } while (!members.compare_exchange_weak(index, index + 1, std::memory_order_acq_rel));
    return {};
}

MemberControl &Segment::member(uint32_t index) const {
    return *reinterpret_cast<MemberControl *>(base_ + header().members_offset +
                                              index * header().member_bytes);
}

std::byte *Segment::cell(uint32_t member_index, uint32_t cell_index) const {
    return reinterpret_cast<std::byte *>(&member(member_index)) + cells_offset +
           static_cast<size_t>(cell_index) * cell_bytes;
}

uint64_t Segment::append_ring() {
    uint64_t offset = append(ring_room());
    if (offset) header().rings.fetch_add(1, std::memory_order_relaxed);
    return offset;
}

uint64_t Segment::append_area(size_t bytes) {
    bytes = whole_pages(bytes);
    uint64_t rings = header().rings.load(std::memory_order_relaxed);
    uint64_t kept = rings_bytes(members()) - std::min<uint64_t>(rings * ring_room(), rings_bytes(members()));
    return available_bytes(descriptor_) >= kept + bytes ? append(bytes, kept) : 0;
}

// The block's pages are taken at once, whether or not the program ever touches them.
uint64_t Segment::append_block(size_t bytes, Need need) {
    auto unused = static_cast<uint64_t>(sysconf(_SC_AVPHYS_PAGES)) * page_bytes;
    uint64_t available = std::min(available_bytes(descriptor_), unused), size = whole_pages(bytes);
    constexpr uint64_t most_for_convenience = uint64_t{256} << 20;
    if (need == Need::convenience && (bytes > most_for_convenience || size > available / 4)) return 0;
    if (size < bytes || size > available || available - size < rings_bytes(members())) return 0;
    uint64_t offset = header().blocks_end.fetch_add(size, std::memory_order_relaxed);
    return allocate_all(descriptor_, offset, size) == 0 ? offset : 0;
}

std::byte *Segment::map(uint64_t offset, size_t bytes) const {
    void *memory = mmap(nullptr, whole_pages(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_,
                        static_cast<off_t>(offset));
    return memory == MAP_FAILED ? nullptr : static_cast<std::byte *>(memory);
}

void Segment::unmap(std::byte *memory, size_t bytes) { munmap(memory, whole_pages(bytes)); }

// In empty() and refill(), the part may begin within a page, but it ends with the last page of its area or
// block. The rest of a first page keeps its memory and is zeroed.
void Segment::empty(uint64_t offset, size_t bytes) {
    give_back(descriptor_, offset, whole_pages(offset + bytes) - offset);
}

bool Segment::refill(uint64_t offset, size_t bytes) {
    return allocate_all(descriptor_, offset, whole_pages(offset + bytes) - offset) == 0;
}

uint64_t Segment::append(size_t bytes, uint64_t kept) {
    uint64_t offset = header().appended.load(std::memory_order_relaxed);
    do {
        if (offset + bytes + kept > header().limit) return 0;
    } while (!header().appended.compare_exchange_weak(offset, offset + bytes, std::memory_order_relaxed));
    return allocate_all(descriptor_, offset, bytes) == 0 ? offset : 0;
}

Error Segment::no_room_for_ring() const {
    return Error(ErrorClass::no_mem, "the shared memory of this node" + folder_of(descriptor_) +
                                         " is full, and the first message to another " + "process needs " +
                                         in_kib(ring_bytes) + " of it; " + more_room(descriptor_));
}

uint64_t Segment::used_bytes() const {
    struct stat about;
    return fstat(descriptor_, &about) == 0 ? static_cast<uint64_t>(about.st_blocks) * 512 : 0;
}

Error open_nameless(const std::string &folder, int &descriptor) {
    descriptor = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (descriptor >= 0) return {};
    return Error(ErrorClass::other, "no file can be made in " + folder + ": " + system_text(errno) +
                                        "; set LANYARD_SHM_DIR to a folder in memory that can be written");
}

Error open_named(const std::string &folder, const std::string &name, bool create, int &descriptor) {
    std::string path = folder + "/" + name;
    descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC | (create ? O_CREAT | O_EXCL : 0), 0600);
    if (descriptor >= 0) return {};
    return Error(ErrorClass::other, std::string(create ? "making " : "opening ") + path + ": " +
                                        system_text(errno) +
                                        "; set LANYARD_SHM_DIR to a folder in memory that can be written");
}

void unlink_named(const std::string &folder, const std::string &name) {
    unlink((folder + "/" + name).c_str());
}

}  // namespace lanyard
