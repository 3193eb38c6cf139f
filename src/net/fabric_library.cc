// See fabric_library.h.
#include "net/fabric_library.h"

#include <dlfcn.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <signal.h>

#include <algorithm>
#include <cstring>

#include "net/fabric.h"

namespace lanyard {

namespace {

// The version of libfabric's interface whose rules this code follows. Every later libfabric applies the rules
// of this version to a caller that requests this version.
constexpr uint32_t api_version = FI_VERSION(1, 9);

std::string provider_of(const fi_info &info) {
    return info.fabric_attr && info.fabric_attr->prov_name ? info.fabric_attr->prov_name : "?";
}

bool over_ip(const fi_info &info) {
    return info.src_addr && (info.addr_format == FI_SOCKADDR || info.addr_format == FI_SOCKADDR_IN ||
                             info.addr_format == FI_SOCKADDR_IN6);
}

Address address_of(const fi_info &info) {
    sockaddr_storage place{};
    std::memcpy(&place, info.src_addr, std::min(info.src_addrlen, sizeof place));
    return from_system(place);
}

// Lists a provider's endpoints of the given type in `infos`, or those of all providers if `provider` is "".
// FI_EP_DGRAM lists the datagram endpoints with which this code can work. FI_EP_UNSPEC lists all endpoints of
// any type. Returns 0, or libfabric's error.
int ask(const FabricLibrary &library, const std::string &provider, fi_ep_type type, FabricInfos &infos) {
    infos.clear();
    FabricInfos hints(library);
    hints.list = library.dupinfo(nullptr);
    if (!hints.list) return -FI_ENOMEM;
    fi_info &wanted = *hints.list;
    wanted.ep_attr->type = type;
    wanted.mode = FI_MSG_PREFIX | FI_CONTEXT | FI_CONTEXT2;
    if (type != FI_EP_UNSPEC) wanted.caps = FI_MSG;
    else wanted.mode = ~uint64_t{0};
    wanted.domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    wanted.domain_attr->threading = type == FI_EP_UNSPEC ? FI_THREAD_UNSPEC : FI_THREAD_DOMAIN;
    if (!provider.empty()) wanted.fabric_attr->prov_name = strdup(provider.c_str());
    return library.getinfo(api_version, nullptr, nullptr, 0, &wanted, &infos.list);
}

// The names of the providers in a list, each once, as in "tcp, udp and verbs". libfabric's own layers above
// other providers are left out.
std::string names_in(const fi_info *list) {
    std::vector<std::string> names;
    for (; list; list = list->next) {
        std::string name = provider_of(*list);
        if (!name.starts_with("ofi_") && std::find(names.begin(), names.end(), name) == names.end())
            names.push_back(name);
    }
    std::string text;
    for (size_t i = 0; i < names.size(); ++i)
        text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
    return text;
}

// The sentence of the error: why no suitable provider with datagram endpoints was found, and what could be
// used instead.
std::string why_none(const FabricLibrary &library, const std::string &provider) {
    std::string where = "libfabric " + library.version_text() + " on this machine";
    FabricInfos others(library), known(library);
    bool any = ask(library, "", FI_EP_DGRAM, others) == 0;
    std::string remedy =
        any ? "; those that have are " + names_in(others.list) : "; use LANYARD_DGRAM_IO=udp";
    if (provider.empty()) return where + " has no provider with datagram endpoints (FI_EP_DGRAM)" + remedy;
    library.getinfo(api_version, nullptr, nullptr, FI_PROV_ATTR_ONLY, nullptr, &known.list);
    const fi_info *each = known.list;
    while (each && provider_of(*each) != provider) each = each->next;
    if (!each)
        return where + " has no provider \"" + provider + "\"; it has " + names_in(known.list) +
               " (one without device or driver may not show)";
    if (ask(library, provider, FI_EP_UNSPEC, others) != 0)
        return where + " has the provider " + provider + ", which finds no device here that it can use" +
               remedy;
    return where + " has the provider " + provider + ", but without datagram endpoints (FI_EP_DGRAM)" +
           remedy;
}

// Chooses among the endpoints of the first usable provider in the list. If this provider uses IP, returns the
// endpoint at the best of the addresses. Otherwise returns the provider's first endpoint. Returns nullptr if
// no endpoint has one of the addresses.
const fi_info *best_of(const fi_info *list, const std::vector<Address> &addresses) {
    const fi_info *best = nullptr;
    auto closest = addresses.end();
    for (; list; list = list->next) {
        if (best && provider_of(*best) != provider_of(*list)) break;
        if (!over_ip(*list)) return best ? best : list;
        Address own = address_of(*list);
        auto at = std::find_if(addresses.begin(), closest,
                               [&](const Address &each) { return same_host(each, own); });
        if (at == closest) continue;
        closest = at;
        best = list;
    }
    return best;
}

// Restores the signal handlers after libfabric has been loaded. Libraries that libfabric loads may install
// handlers of their own. The library of psm does this for SIGSEGV and others, and so turns a crash into an
// exit with code 1.
class SignalsKept {
public:
    SignalsKept() {
        for (int signal = 1; signal < count; ++signal)
            known_[signal] = sigaction(signal, nullptr, &before_[signal]) == 0;
    }
    ~SignalsKept() {
        for (int signal = 1; signal < count; ++signal)
            if (struct sigaction now; known_[signal] && sigaction(signal, nullptr, &now) == 0 &&
                                      now.sa_handler != before_[signal].sa_handler)
                sigaction(signal, &before_[signal], nullptr);
    }
    SignalsKept(const SignalsKept &) = delete;
    SignalsKept &operator=(const SignalsKept &) = delete;

private:
    static constexpr int count = 32;
    struct sigaction before_[count];
    bool known_[count];
};

template <class Function>
bool find_symbol(void *library, const char *name, Function &function) {
    void *symbol = dlsym(library, name);
    function = reinterpret_cast<Function>(symbol);
    return symbol != nullptr;
}

}  // namespace

Error FabricLibrary::load(FabricLibrary &library, const char *file) {
    SignalsKept kept;
    void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);  // never closed
    bool whole = handle && find_symbol(handle, "fi_version", library.version) &&
                 find_symbol(handle, "fi_getinfo", library.getinfo) &&
                 find_symbol(handle, "fi_freeinfo", library.freeinfo) &&
                 find_symbol(handle, "fi_dupinfo", library.dupinfo) &&
                 find_symbol(handle, "fi_fabric", library.fabric) &&
                 find_symbol(handle, "fi_strerror", library.strerror);
    if (whole) return {};
    const char *trouble = dlerror();
    return Error(ErrorClass::other,
                 "it needs libfabric on each machine of the job (Debian: apt-get install libfabric1), which "
                 "cannot be loaded: " +
                     std::string(trouble ? trouble : "a function is missing"));
}

std::string FabricLibrary::version_text() const {
    uint32_t number = version();
    return std::to_string(FI_MAJOR(number)) + "." + std::to_string(FI_MINOR(number));
}

Error find_fabric(const FabricLibrary &library, const FabricChoice &choice, FabricInfos &found) {
    FabricInfos infos(library);
    if (ask(library, choice.provider, FI_EP_DGRAM, infos) != 0)
        return Error(ErrorClass::other, why_none(library, choice.provider));
    const fi_info *best = best_of(infos.list, choice.addresses);
    if (!best) {
        std::string where;
        for (const Address &address : choice.addresses)
            where += (where.empty() ? "" : ", ") + to_text(address);
        return Error(ErrorClass::other,
                     "libfabric's provider " + names_in(infos.list) + " has no endpoint at " + where +
                         "; name an interface that it uses by LANYARD_INTERFACES, or another provider");
    }
    if (best->ep_attr->max_msg_size < least_packet)
        return Error(ErrorClass::other,
                     "libfabric's provider " + provider_of(*best) + " carries packets of at most " +
                         std::to_string(best->ep_attr->max_msg_size) + " bytes; datagrams need " +
                         std::to_string(least_packet) + ": name another provider");
    found.clear();
    found.library = &library;
    found.list = library.dupinfo(best);
    return found.list
               ? Error()
               : Error(ErrorClass::other, "there is no memory for libfabric's description of an endpoint");
}

uint16_t *fabric_port(fi_info &info) {
    if (!over_ip(info)) return nullptr;
    auto *address = static_cast<sockaddr *>(info.src_addr);
    if (address->sa_family == AF_INET6) return &reinterpret_cast<sockaddr_in6 *>(address)->sin6_port;
    return &reinterpret_cast<sockaddr_in *>(address)->sin_port;
}

}  // namespace lanyard
