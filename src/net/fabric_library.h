// The few functions of libfabric that are symbols; everything else is reached through the tables of what these return. Loaded when somebody asks
// for it, so that programs run where it is not installed; tests put a provider of their own in its place.
#pragma once

#include <rdma/fabric.h>

#include <string>
#include <vector>

#include "base/error.h"

namespace lanyard {

struct FabricLibrary {
    uint32_t (*version)();
    int (*getinfo)(uint32_t version, const char *node, const char *service, uint64_t flags, const fi_info *hints, fi_info **list);
    void (*freeinfo)(fi_info *list);
    fi_info *(*dupinfo)(const fi_info *info);
    int (*fabric)(fi_fabric_attr *attributes, fid_fabric **made, void *context);
    const char *(*strerror)(int number);

    // It stays loaded.
    static Error load(FabricLibrary &library, const char *file = "libfabric.so.1");

    // "1.17"
    std::string version_text() const;
    // Of a function that returned -number.
    std::string trouble(int64_t result) const { return strerror(static_cast<int>(-result)); }
};

struct FabricInfos {
    const FabricLibrary *library = nullptr;
    fi_info *list = nullptr;

    FabricInfos() = default;
    explicit FabricInfos(const FabricLibrary &of) : library(&of) {}
    FabricInfos(const FabricInfos &) = delete;
    FabricInfos &operator=(const FabricInfos &) = delete;
    ~FabricInfos() { clear(); }
    void clear() {
        if (list) library->freeinfo(list);
        list = nullptr;
    }
};

struct FabricChoice;

// The description of what to open for `choice`, alone in `found`, or a sentence that says what this machine lacks.
Error find_fabric(const FabricLibrary &library, const FabricChoice &choice, FabricInfos &found);

// Has the provider's address a port, as IP's have? 0: it does not.
uint16_t *fabric_port(fi_info &info);

}  // namespace lanyard
