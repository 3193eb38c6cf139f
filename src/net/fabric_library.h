// FabricLibrary has the few functions that libfabric exports as symbols. All other functions of libfabric are
// called through tables in the objects that the exported functions return. libfabric is loaded when it is
// first requested, so that programs run on machines without it. Tests replace libfabric by functions with a
// provider of their own.
// Tested by: tests/unit/net/fabric_packets_test.cc, tests/failures/test_settings.py.
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

    // Loads libfabric and finds its functions. libfabric then stays loaded.
    static Error load(FabricLibrary &library, const char *file = "libfabric.so.1");

    // The version of libfabric, as in "1.17".
    std::string version_text() const;
    // The text for the error that a function of libfabric has returned, a negative number.
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

// Finds the endpoint to open for `choice`, and stores the description of this one endpoint in `found`. If
// there is no such endpoint, returns an error that says what this machine lacks.
Error find_fabric(const FabricLibrary &library, const FabricChoice &choice, FabricInfos &found);

// Returns the port, in network byte order, within the address that `info` contains. Returns nullptr if this
// address is not an IP address with a port.
uint16_t *fabric_port(fi_info &info);

}  // namespace lanyard
