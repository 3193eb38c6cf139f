// Opens a FabricPackets: creates the objects of libfabric one after another, the pool of memory, and the
// descriptors for sleeping.
// Tested by: tests/unit/net/fabric_packets_test.cc, tests/failures/test_settings.py.
#include <errno.h>
#include <rdma/fi_cm.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "base/epoll.h"
#include "net/fabric_packets.h"

namespace lanyard {

namespace {

// The longest packet that is used. Networks that have datagrams of their own, such as InfiniBand, carry no
// longer packets.
constexpr size_t most_bytes = 9'000;
constexpr size_t most_sends = 256, most_receives = 512;
constexpr size_t slot_alignment = 64;
constexpr size_t longest_address = 128;

size_t rounded_up(size_t bytes) { return (bytes + slot_alignment - 1) / slot_alignment * slot_alignment; }

// Calls a function of libfabric that creates an object, and stores the object in `own`. Returns the
// function's result.
template <class Fid, class Own, class Make>
int make(Own &own, Make function) {
    Fid *made = nullptr;
    int result = function(&made);
    if (result == 0) own.reset(made);
    return result;
}

}  // namespace

// Opens the completion queues. If the provider supports it, the queue of received packets wakes sleepers.
int FabricPackets::open_queues() {
    fi_cq_attr attributes{};
    attributes.format = FI_CQ_FORMAT_MSG;
    attributes.wait_obj = FI_WAIT_NONE;
    attributes.size = sends_;
    int result = make<fid_cq>(
        sent_, [&](fid_cq **made) { return fi_cq_open(domain_.get(), &attributes, made, nullptr); });
    if (result != 0) return result;
    attributes.size = receives_;
    attributes.wait_obj = FI_WAIT_FD;
    auto open_arrivals = [&] {
        return make<fid_cq>(
            arrived_, [&](fid_cq **made) { return fi_cq_open(domain_.get(), &attributes, made, nullptr); });
    };
    wakes_ = open_arrivals() == 0 && open_wait(arrived_.get()) == 0;
    if (wakes_) return 0;
    arrived_.reset();
    attributes.wait_obj = FI_WAIT_NONE;
    return open_arrivals();
}

int FabricPackets::open_wait(fid_cq *queue) {
    int descriptor = -1;
    if (int result = fi_control(&queue->fid, FI_GETWAIT, &descriptor)) return result;
    return descriptor >= 0 && epoll_add(epoll_, descriptor, EPOLLIN) ? 0 : -EBADF;
}

int FabricPackets::make_pool() {
    size_t count = sends_ + receives_, bytes = count * slot_bytes_;
    pool_.reset(new std::byte[bytes + slot_alignment]);
    auto begin = reinterpret_cast<std::byte *>(rounded_up(reinterpret_cast<uintptr_t>(pool_.get())));
    slots_.resize(count);
    for (size_t i = 0; i < count; ++i) slots_[i].bytes = begin + i * slot_bytes_;
    free_.clear();
    to_post_.clear();
    for (size_t i = 0; i < count; ++i) (i < sends_ ? free_ : to_post_).push_back(&slots_[i]);
    if (!(info_.list->domain_attr->mr_mode & FI_MR_LOCAL)) return 0;
    return make<fid_mr>(region_, [&](fid_mr **made) {
        return fi_mr_reg(domain_.get(), begin, bytes, FI_SEND | FI_RECV, 0, 0, 0, made, nullptr);
    });
}

int FabricPackets::learn_name() {
    unsigned char address[longest_address];
    size_t length = sizeof address;
    if (int result = fi_getname(&endpoint_->fid, address, &length)) return result;
    if (length > sizeof address) return -FI_ETOOSMALL;
    address_bytes_ = length;
    name_ = kind_;
    for (size_t i = 0; i < length; ++i) {
        name_ += "0123456789abcdef"[address[i] >> 4];
        name_ += "0123456789abcdef"[address[i] & 15];
    }
    return 0;
}

// Opens all objects except the fabric. If this fails, `what` names the object that could not be opened.
int FabricPackets::open_endpoint(const char *&what) {
    fi_info &info = *info_.list;
    endpoint_.reset();
    arrived_.reset();
    sent_.reset();
    peers_.reset();
    region_.reset();
    domain_.reset();
    fi_av_attr vector{};
    vector.type = info.domain_attr->av_type;
    int result = 0;
    auto step = [&](const char *name, auto function) {
        if (result != 0) return;
        what = name;
        result = function();
    };
    step("a domain", [&] {
        return make<fid_domain>(
            domain_, [&](fid_domain **made) { return fi_domain(fabric_.get(), &info, made, nullptr); });
    });
    step("registered memory", [&] { return make_pool(); });
    step("an address vector", [&] {
        return make<fid_av>(peers_,
                            [&](fid_av **made) { return fi_av_open(domain_.get(), &vector, made, nullptr); });
    });
    step("completion queues", [&] { return open_queues(); });
    step("an endpoint", [&] {
        return make<fid_ep>(endpoint_,
                            [&](fid_ep **made) { return fi_endpoint(domain_.get(), &info, made, nullptr); });
    });
    step("an endpoint with its address vector", [&] { return fi_ep_bind(endpoint_.get(), &peers_->fid, 0); });
    step("an endpoint with its completion queues",
         [&] { return fi_ep_bind(endpoint_.get(), &sent_->fid, FI_TRANSMIT); });
    step("an endpoint with its completion queues",
         [&] { return fi_ep_bind(endpoint_.get(), &arrived_->fid, FI_RECV); });
    step("an endpoint that is enabled", [&] { return fi_enable(endpoint_.get()); });
    step("an endpoint with a name", [&] { return learn_name(); });
    step("an endpoint that receives",
         [&] { return post_receives() || to_post_.size() < receives_ ? 0 : -EIO; });
    return result;
}

Error FabricPackets::open_at_a_port(const FabricChoice &choice) {
    fi_info &info = *info_.list;
    uint16_t *port = fabric_port(info);
    uint32_t choices = port && choice.least_port
                           ? static_cast<uint32_t>(choice.most_port - choice.least_port) + 1
                           : 1,
             first = 0;
    if (getrandom(&first, sizeof first, GRND_NONBLOCK) < 0) first = 0;
    const char *what = "";
    int result = -FI_EADDRINUSE;
    for (uint32_t i = 0; i < choices && result == -FI_EADDRINUSE; ++i) {
        if (port && choice.least_port)
            *port = htons(static_cast<uint16_t>(choice.least_port + (first % choices + i) % choices));
        result = open_endpoint(what);
    }
    if (result == 0) return {};
    std::string provider = info.fabric_attr->prov_name;
    if (result == -FI_EADDRINUSE && port && choice.least_port)
        return Error(ErrorClass::other,
                     "libfabric's provider " + provider + " finds no free port in LANYARD_PORT_RANGE=" +
                         std::to_string(choice.least_port) + "-" + std::to_string(choice.most_port) +
                         "; each process of a host needs a port of its own: name more of them");
    bool locked = result == -FI_ENOMEM && (info.domain_attr->mr_mode & FI_MR_LOCAL);
    return Error(ErrorClass::other,
                 "libfabric's provider " + provider + " does not give " + what + ": " +
                     library_.trouble(result) +
                     (locked ? "; a process must be allowed to lock some MiB of memory (ulimit -l)" : ""));
}

Error FabricPackets::open(const FabricLibrary &library, const FabricChoice &choice,
                          std::unique_ptr<FabricPackets> &made) {
    std::unique_ptr<FabricPackets> packets(new FabricPackets(library));
    if (Error error = find_fabric(library, choice, packets->info_)) return error;
    fi_info &info = *packets->info_.list;
    packets->kind_ = std::string("libfabric:") + info.fabric_attr->prov_name + ":";
    std::replace(packets->kind_.begin(), packets->kind_.end(), ';', '+');  // launchers carry '+' but not ';'
    packets->prefix_ = info.mode & FI_MSG_PREFIX ? info.ep_attr->msg_prefix_size : 0;
    packets->largest_ = std::min(info.ep_attr->max_msg_size, most_bytes);
    packets->slot_bytes_ = rounded_up(packets->prefix_ + packets->largest_);
    packets->sends_ = std::clamp<size_t>(info.tx_attr->size, 1, most_sends);
    packets->receives_ = std::clamp<size_t>(info.rx_attr->size, 1, most_receives);
    packets->epoll_ = epoll_create1(EPOLL_CLOEXEC);
    packets->timer_ = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (packets->epoll_ < 0 || packets->timer_ < 0 || !epoll_add(packets->epoll_, packets->timer_, EPOLLIN))
        return Error(ErrorClass::other, "the kernel gives no descriptor to sleep at: " + system_text(errno));
    auto open_fabric = [&](fid_fabric **fabric) { return library.fabric(info.fabric_attr, fabric, nullptr); };
    if (int result = make<fid_fabric>(packets->fabric_, open_fabric))
        return Error(ErrorClass::other, std::string("libfabric's provider ") + info.fabric_attr->prov_name +
                                            " cannot be used: " + library.trouble(result));
    if (Error error = packets->open_at_a_port(choice)) return error;
    made = std::move(packets);
    return {};
}

FabricPackets::~FabricPackets() {
    endpoint_.reset();  // these two are closed before the epoll set, which has a descriptor of arrived_
    arrived_.reset();
    if (epoll_ >= 0) close(epoll_);
    if (timer_ >= 0) close(timer_);
}

// Lets the timer make the descriptor readable after this time; if `after_ns` is 0, stops the timer.
void FabricPackets::set_timer(uint64_t after_ns) {
    // Here the clock is read before the kernel starts the timer. So timer_due_ns_ has passed when the
    // descriptor becomes readable.
    timer_due_ns_ = after_ns ? clock_ns() + after_ns : 0;
    itimerspec when{};
    when.it_value.tv_nsec = static_cast<long>(after_ns);
    timerfd_settime(timer_, 0, &when, nullptr);
}

Error open_fabric(const FabricChoice &choice, std::unique_ptr<PacketIo> &packets) {
    static FabricLibrary library;  // all endpoints share it, because it stays loaded
    Error error = FabricLibrary::load(library);
    std::unique_ptr<FabricPackets> made;
    if (!error) error = FabricPackets::open(library, choice, made);
    if (error) return error.within(choice.setting());
    packets = std::move(made);
    return {};
}

}  // namespace lanyard
