// Defines a job's secret that is the same in every run, for tests whose processes are all simulated in one
// process.
#pragma once

#include <string>

#include "base/error.h"
#include "net/secret.h"

namespace lanyard::sim {

inline const Secret &known_secret() {
    static const Secret made = [] {
        Secret parsed;
        LANYARD_MUST(Secret::parse(std::string(64, '7'), parsed));
        return parsed;
    }();
    return made;
}

}  // namespace lanyard::sim
