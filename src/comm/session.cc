// See session.h.
#include "comm/session.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "config/settings.h"

namespace lanyard {

namespace {

// Is a kind such as "mpi:alloc_mem" supported? A kind is supported if its name and all restrictors behind
// colons are supported.
bool supported(const std::string &kind) {
    constexpr const char *restrictors[] = {"alloc_mem", "win_allocate", "win_allocate_shared"};
    size_t at = kind.find(':');
    std::string name = kind.substr(0, at);
    if (name == "system") return at == std::string::npos;
    if (name != "mpi") return false;
    while (at != std::string::npos) {
        size_t end = kind.find(':', at + 1);
        std::string restrictor = kind.substr(at + 1, end == std::string::npos ? end : end - at - 1);
        if (std::find(std::begin(restrictors), std::end(restrictors), restrictor) == std::end(restrictors))
            return false;
        at = end;
    }
    return true;
}

}  // namespace

std::string supported_alloc_kinds(std::string_view requested) {
    std::vector<std::string> kinds = split_words(minimal_alloc_kinds);
    for (const std::string &kind : split_words(std::string(requested)))
        if (supported(kind) && std::find(kinds.begin(), kinds.end(), kind) == kinds.end())
            kinds.push_back(kind);
    std::string list;
    for (const std::string &kind : kinds) list += (list.empty() ? "" : ",") + kind;
    return list;
}

ObjectPool<Session> &session_pool() {
    // never destroyed: exit handlers of the program may still finalise sessions
    static auto &pool = *new ObjectPool<Session>;
    return pool;
}

}  // namespace lanyard
