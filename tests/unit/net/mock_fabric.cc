// See mock_fabric.h.
#include "unit/net/mock_fabric.h"

#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <utility>

#include "unit/net/mock_fabric_info.h"

namespace lanyard::mock_fabric {

namespace {

constexpr uint64_t address_magic = 0x4d4f434b;  // an address is this and the endpoint's number

struct Fabric {
    fid_fabric fid{};
    int children = 0;
};
struct Domain {
    fid_domain fid{};
    Fabric *parent = nullptr;
    int children = 0;
};
struct Queue {
    fid_cq fid{};
    Domain *parent = nullptr;
    size_t size = 0;
    int descriptor = -1;
    bool armed = false;
    int users = 0;
    std::deque<fi_cq_err_entry> entries;  // an entry with `err` is an error
};
struct Region {
    fid_mr fid{};
    Domain *parent = nullptr;
    const std::byte *begin = nullptr;
    size_t size = 0;
};
struct Vector {
    fid_av fid{};
    Domain *parent = nullptr;
    std::vector<uint64_t> addresses;  // an fi_addr_t is an index into this list
    int users = 0;
};
struct Posted {
    std::byte *bytes;
    size_t size;
    void *memory, *context;
    uint64_t to;
};
struct Endpoint {
    fid_ep fid{};
    Domain *parent = nullptr;
    uint64_t number = 0;
    Queue *sent = nullptr, *received = nullptr;
    Vector *vector = nullptr;
    bool enabled = false;
    std::deque<Posted> sends, receives;
};

struct State {
    Behaviour behaviour;
    Counts counts;
    std::vector<std::string> faults;
    bool held = false, fail_send = false, fail_arrival = false;
    int refuse = 0, made = 0;
    uint64_t next_number = 1;
    std::map<uint64_t, Endpoint *> endpoints;
    std::vector<Region *> regions;
    fi_ops_fabric fabric{};
    fi_ops_domain domain{};
    fi_ops_mr memory{};
    fi_ops_av vector{};
    fi_ops_cq queue{};
    fi_ops_msg messages{};
    fi_ops_cm names{};
};

State &state() {
    static State the;
    return the;
}

void fault(const std::string &sentence) {
    if (state().faults.size() < 20) state().faults.push_back(sentence);
}

// Each kind of object has its own table of functions by which it is closed, bound and controlled.
int close_fabric(fid *which) {
    auto *fabric = reinterpret_cast<Fabric *>(which);
    if (fabric->children) fault("the fabric was closed before its domains");
    --state().counts.open;
    delete fabric;
    return 0;
}
int close_domain(fid *which) {
    auto *domain = reinterpret_cast<Domain *>(which);
    if (domain->children) fault("a domain was closed before what was made from it");
    --domain->parent->children;
    --state().counts.open;
    delete domain;
    return 0;
}
template <class Object>
int close_of_domain(Object *object) {
    --object->parent->children;
    --state().counts.open;
    delete object;
    return 0;
}
int close_region(fid *which) {
    auto *region = reinterpret_cast<Region *>(which);
    for (auto [number, endpoint] : state().endpoints)
        for (const std::deque<Posted> *list : {&endpoint->sends, &endpoint->receives})
            for (const Posted &posted : *list)
                if (posted.memory == region)
                    fault("memory was given up while endpoint " + std::to_string(number) + " uses it");
    std::erase(state().regions, region);
    return close_of_domain(region);
}
int close_vector(fid *which) {
    auto *vector = reinterpret_cast<Vector *>(which);
    if (vector->users) fault("an address vector was closed before its endpoint");
    return close_of_domain(vector);
}
int close_queue(fid *which) {
    auto *queue = reinterpret_cast<Queue *>(which);
    if (queue->users) fault("a completion queue was closed before its endpoint");
    if (queue->descriptor >= 0) close(queue->descriptor);
    return close_of_domain(queue);
}
int close_endpoint(fid *which) {
    auto *endpoint = reinterpret_cast<Endpoint *>(which);
    state().endpoints.erase(endpoint->number);
    if (endpoint->sent) --endpoint->sent->users;
    if (endpoint->received) --endpoint->received->users;
    if (endpoint->vector) --endpoint->vector->users;
    return close_of_domain(endpoint);
}

int control_queue(fid *which, int command, void *argument) {
    auto *queue = reinterpret_cast<Queue *>(which);
    if (command != FI_GETWAIT || queue->descriptor < 0) return -FI_ENOSYS;
    *static_cast<int *>(argument) = queue->descriptor;
    return 0;
}
int control_endpoint(fid *which, int command, void *) {
    auto *endpoint = reinterpret_cast<Endpoint *>(which);
    if (command != FI_ENABLE) return -FI_ENOSYS;
    if (!endpoint->sent || !endpoint->received || !endpoint->vector) return -FI_EOPBADSTATE;
    endpoint->enabled = true;
    return 0;
}
int bind_endpoint(fid *which, fid *to, uint64_t flags) {
    auto *endpoint = reinterpret_cast<Endpoint *>(which);
    if (to->fclass == FI_CLASS_AV) {
        endpoint->vector = reinterpret_cast<Vector *>(to);
        ++endpoint->vector->users;
        return 0;
    }
    auto *queue = reinterpret_cast<Queue *>(to);
    if (flags != FI_TRANSMIT && flags != FI_RECV) return -FI_EBADFLAGS;
    (flags == FI_TRANSMIT ? endpoint->sent : endpoint->received) = queue;
    ++queue->users;
    return 0;
}

struct Tables {
    fi_ops fabric{sizeof(fi_ops), close_fabric, nullptr, nullptr, nullptr, nullptr, nullptr};
    fi_ops domain{sizeof(fi_ops), close_domain, nullptr, nullptr, nullptr, nullptr, nullptr};
    fi_ops region{sizeof(fi_ops), close_region, nullptr, nullptr, nullptr, nullptr, nullptr};
    fi_ops vector{sizeof(fi_ops), close_vector, nullptr, nullptr, nullptr, nullptr, nullptr};
    fi_ops queue{sizeof(fi_ops), close_queue, nullptr, control_queue, nullptr, nullptr, nullptr};
    fi_ops endpoint{sizeof(fi_ops), close_endpoint, bind_endpoint, control_endpoint, nullptr, nullptr,
                    nullptr};
};
Tables &tables() {
    static Tables the;
    return the;
}

// Counts a new object. Returns -FI_ENOMEM if it is the object that cannot be made.
int count_object() {
    State &now = state();
    if (now.made++ == now.behaviour.missing_object) return -FI_ENOMEM;
    ++now.counts.open;
    return 0;
}

bool registered(const Posted &posted) {
    const std::vector<Region *> &regions = state().regions;
    auto *region = static_cast<Region *>(posted.memory);
    return std::find(regions.begin(), regions.end(), region) != regions.end() &&
           posted.bytes >= region->begin && posted.bytes + posted.size <= region->begin + region->size;
}

void complete(Queue &queue, const Posted &posted, uint64_t flags, size_t size, int error) {
    if (queue.entries.size() == queue.size)
        return fault("a completion queue of " + std::to_string(queue.size) + " was overrun");
    fi_cq_err_entry entry{};
    entry.op_context = posted.context;
    entry.flags = flags;
    entry.len = size;
    entry.err = error;
    queue.entries.push_back(entry);
    if (!queue.armed) return;
    queue.armed = false;
    uint64_t one = 1;
    if (write(queue.descriptor, &one, sizeof one) != sizeof one) fault("an eventfd cannot be written");
}

void arrive(const Posted &sent) {
    State &now = state();
    auto found = now.endpoints.find(sent.to);
    if (found == now.endpoints.end() || found->second->receives.empty()) {
        ++now.counts.dropped;
        return;
    }
    Endpoint &to = *found->second;
    Posted into = to.receives.front();
    to.receives.pop_front();
    std::memset(into.bytes, 0xee, prefix);
    bool fails = std::exchange(now.fail_arrival, false) || sent.size > into.size;
    if (!fails) std::memcpy(into.bytes + prefix, sent.bytes + prefix, sent.size - prefix);
    complete(*to.received, into, FI_RECV, fails ? 0 : sent.size, fails ? FI_ETRUNC : 0);
}

// Lets everything that was sent leave, unless packets are held.
void go_on() {
    State &now = state();
    if (now.held) return;
    for (auto [number, endpoint] : now.endpoints)
        while (!endpoint->sends.empty()) {
            Posted sent = endpoint->sends.front();
            endpoint->sends.pop_front();
            bool fails = std::exchange(now.fail_send, false);
            if (!registered(sent)) fault("memory that was being sent is not registered any more");
            else if (!fails) arrive(sent);
            std::memset(sent.bytes, 0xdd, prefix);
            complete(*endpoint->sent, sent, FI_SEND, 0, fails ? FI_EIO : 0);
        }
}

void judge(const Endpoint &endpoint, const Posted &posted, const char *what) {
    if (!endpoint.enabled) fault(std::string(what) + " at an endpoint that is not enabled");
    if (posted.size < prefix) fault(std::string(what) + " without room for the provider's 40 bytes");
    if (!registered(posted)) fault(std::string(what) + " memory that is not registered");
    if (!posted.context) return fault(std::string(what) + " without a context for the provider");
    std::memset(posted.context, 0xcc, sizeof(fi_context2));
}

ssize_t send(fid_ep *which, const void *bytes, size_t size, void *memory, fi_addr_t to, void *context) {
    State &now = state();
    auto *endpoint = reinterpret_cast<Endpoint *>(which);
    if (now.refuse) return -std::exchange(now.refuse, 0);
    if (endpoint->sends.size() + endpoint->sent->entries.size() >= now.behaviour.transmits) {
        ++now.counts.refused_for_now;
        return -FI_EAGAIN;
    }
    if (to >= endpoint->vector->addresses.size()) return -FI_EINVAL;
    Posted posted{static_cast<std::byte *>(const_cast<void *>(bytes)), size, memory, context,
                  endpoint->vector->addresses[to]};
    judge(*endpoint, posted, "sending");
    if (size > prefix + now.behaviour.largest) fault("a packet longer than the provider's largest was sent");
    endpoint->sends.push_back(posted);
    ++now.counts.sent;
    return 0;
}

ssize_t receive(fid_ep *which, void *bytes, size_t size, void *memory, fi_addr_t, void *context) {
    auto *endpoint = reinterpret_cast<Endpoint *>(which);
    if (endpoint->receives.size() >= state().behaviour.receives) return -FI_EAGAIN;
    Posted posted{static_cast<std::byte *>(bytes), size, memory, context, 0};
    judge(*endpoint, posted, "receiving into");
    if (size < prefix + state().behaviour.largest)
        fault("a posted receive is too short for the provider's packets");
    endpoint->receives.push_back(posted);
    return 0;
}

ssize_t read_queue(fid_cq *which, void *into, size_t most) {
    go_on();
    auto *queue = reinterpret_cast<Queue *>(which);
    auto *entries = static_cast<fi_cq_msg_entry *>(into);
    size_t count = 0;
    for (; count < most && !queue->entries.empty() && !queue->entries.front().err; ++count) {
        const fi_cq_err_entry &entry = queue->entries.front();
        entries[count] = {entry.op_context, entry.flags, entry.len};
        queue->entries.pop_front();
    }
    if (count > 0) return static_cast<ssize_t>(count);
    return queue->entries.empty() ? -FI_EAGAIN : -FI_EAVAIL;
}

ssize_t read_error(fid_cq *which, fi_cq_err_entry *into, uint64_t) {
    auto *queue = reinterpret_cast<Queue *>(which);
    if (queue->entries.empty() || !queue->entries.front().err) return -FI_EAGAIN;
    *into = queue->entries.front();
    queue->entries.pop_front();
    return 1;
}

int try_wait(fid_fabric *, fid **which, int count) {
    go_on();
    for (int i = 0; i < count; ++i) {
        auto *queue = reinterpret_cast<Queue *>(which[i]);
        if (queue->descriptor < 0) return -FI_EINVAL;
        if (!queue->entries.empty()) return -FI_EAGAIN;
        uint64_t ignored;
        if (read(queue->descriptor, &ignored, sizeof ignored) < 0) ignored = 0;
        queue->armed = true;
    }
    return 0;
}

int insert(fid_av *which, const void *bytes, size_t count, fi_addr_t *made, uint64_t, void *) {
    auto *vector = reinterpret_cast<Vector *>(which);
    uint64_t address[2];
    std::memcpy(address, bytes, sizeof address);
    if (count != 1 || address[0] != address_magic) return 0;
    vector->addresses.push_back(address[1]);
    *made = vector->addresses.size() - 1;
    return 1;
}

int name_of(fid_t which, void *bytes, size_t *size) {
    uint64_t address[2] = {address_magic, reinterpret_cast<Endpoint *>(which)->number};
    if (*size < sizeof address) return -FI_ETOOSMALL;
    std::memcpy(bytes, address, sizeof address);
    *size = sizeof address;
    return 0;
}

template <class Object>
Object *make_in(fid_domain *domain) {
    auto *object = new Object;
    object->parent = reinterpret_cast<Domain *>(domain);
    ++object->parent->children;
    return object;
}
int open_vector(fid_domain *domain, fi_av_attr *, fid_av **made, void *) {
    if (int result = count_object()) return result;
    auto *vector = make_in<Vector>(domain);
    vector->fid.fid = {FI_CLASS_AV, nullptr, &tables().vector};
    vector->fid.ops = &state().vector;
    *made = &vector->fid;
    return 0;
}
int open_queue(fid_domain *domain, fi_cq_attr *attributes, fid_cq **made, void *) {
    if (attributes->format != FI_CQ_FORMAT_MSG || attributes->size == 0) return -FI_EINVAL;
    if (int result = count_object()) return result;
    auto *queue = make_in<Queue>(domain);
    queue->fid.fid = {FI_CLASS_CQ, nullptr, &tables().queue};
    queue->fid.ops = &state().queue;
    queue->size = attributes->size;
    if (attributes->wait_obj == FI_WAIT_FD && state().behaviour.wakes)
        queue->descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    *made = &queue->fid;
    return 0;
}
int open_endpoint(fid_domain *domain, fi_info *info, fid_ep **made, void *) {
    if (info->ep_attr->type != FI_EP_DGRAM) return -FI_EINVAL;
    if (int result = count_object()) return result;
    auto *endpoint = make_in<Endpoint>(domain);
    endpoint->fid.fid = {FI_CLASS_EP, nullptr, &tables().endpoint};
    endpoint->fid.msg = &state().messages;
    endpoint->fid.cm = &state().names;
    endpoint->number = state().next_number++;
    state().endpoints[endpoint->number] = endpoint;
    *made = &endpoint->fid;
    return 0;
}
int register_memory(fid *domain, const void *bytes, size_t size, uint64_t access, uint64_t, uint64_t,
                    uint64_t, fid_mr **made, void *) {
    if (access != (FI_SEND | FI_RECV)) return -FI_EINVAL;
    if (int result = count_object()) return result;
    auto *region = make_in<Region>(reinterpret_cast<fid_domain *>(domain));
    region->fid.fid = {FI_CLASS_MR, nullptr, &tables().region};
    region->fid.mem_desc = region;
    region->begin = static_cast<const std::byte *>(bytes);
    region->size = size;
    state().regions.push_back(region);
    *made = &region->fid;
    return 0;
}
int open_domain(fid_fabric *fabric, fi_info *, fid_domain **made, void *) {
    if (int result = count_object()) return result;
    auto *domain = new Domain;
    domain->parent = reinterpret_cast<Fabric *>(fabric);
    ++domain->parent->children;
    domain->fid.fid = {FI_CLASS_DOMAIN, nullptr, &tables().domain};
    domain->fid.ops = &state().domain;
    domain->fid.mr = &state().memory;
    *made = &domain->fid;
    return 0;
}
int open_fabric(fi_fabric_attr *attributes, fid_fabric **made, void *) {
    if (std::strcmp(attributes->prov_name, "mock") != 0) return -FI_ENODATA;
    if (int result = count_object()) return result;
    auto *fabric = new Fabric;
    fabric->fid.fid = {FI_CLASS_FABRIC, nullptr, &tables().fabric};
    fabric->fid.ops = &state().fabric;
    *made = &fabric->fid;
    return 0;
}

void fill_tables() {
    State &now = state();
    now.fabric.domain = open_domain;
    now.fabric.trywait = try_wait;
    now.domain.av_open = open_vector;
    now.domain.cq_open = open_queue;
    now.domain.endpoint = open_endpoint;
    now.memory.reg = register_memory;
    now.vector.insert = insert;
    now.queue.read = read_queue;
    now.queue.readerr = read_error;
    now.messages.send = send;
    now.messages.recv = receive;
    now.names.getname = name_of;
}

}  // namespace

void begin(const Behaviour &behaviour) {
    if (state().counts.open != 0) std::abort();
    state() = {};
    state().behaviour = behaviour;
    fill_tables();
}
void hold(bool held) { state().held = held; }
void fail_one_sent() { state().fail_send = true; }
void fail_one_arrival() { state().fail_arrival = true; }
void refuse_next(int error) { state().refuse = error; }
const Behaviour &behaviour() { return state().behaviour; }
const Counts &counts() { return state().counts; }
const std::vector<std::string> &faults() { return state().faults; }

const FabricLibrary &library() {
    static const FabricLibrary made{[]() -> uint32_t { return FI_VERSION(1, 17); }, get_info, free_infos,
                                    duplicate_info, open_fabric,
                                    [](int number) -> const char * { return std::strerror(number); }};
    return made;
}

}  // namespace lanyard::mock_fabric
