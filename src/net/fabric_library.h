// The few functions of libfabric that are symbols. Everything else is reached through the tables that they
// return. The library is loaded when first requested, so that programs run on machines without it. Tests
// replace it by a provider of their own.
#pragma once

#include <rdma/fabric.h>

#include <string>
#include <vector>

#include "base/error.h"

namespace lanyard {

struct FabricLibrary {
    uint32_t (*version)();
    int (*getinfo)(uint32_t version, const char *node, const char *service, uint64_t flags,
                   const fi_info *hints, fi_info **list);
    void (*freeinfo)(fi_info *list);
    fi_info *(*dupinfo)(const fi_info *info);
    int (*fabric)(fi_fabric_attr *attributes, fid_fabric **made, void *context);
    const char *(*strerror)(int number);

    // The library stays loaded.
    static Error load(FabricLibrary &library, const char *file = "libfabric.so.1");

    // The version, as in "1.17".
    std::string version_text() const;
    // The text for a function's result -number.
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

// Finds what to open for `choice`, and returns its description alone in `found`, or an error that says what
// this machine lacks.
Error find_fabric(const FabricLibrary &library, const FabricChoice &choice, FabricInfos &found);

// The port in the provider's address, if it has one, as addresses of IP have; otherwise nullptr.
uint16_t *fabric_port(fi_info &info);

}  // namespace lanyard
