// See tool.h.
#include "tool/tool.h"

#include <algorithm>
#include <cstring>

#include "base/no_memory.h"
#include "base/pool.h"
#include "tool/cvar.h"
#include "tool/event.h"
#include "tool/pvar.h"

namespace lanyard::tool {

namespace {

int uses = 0;
Host *the_host = nullptr;

ObjectPool<ToolEnum> &enumerations() {
    static auto &only = *new ObjectPool<ToolEnum>(1024);
    return only;
}

}  // namespace

Host *host() { return the_host; }
void set_host(Host *host) { the_host = host; }

std::mutex &tool_lock() {
    static auto &only = *new std::mutex;
    return only;
}

Error begin_use() {
    std::lock_guard guard(tool_lock());
    ++uses;
    return {};
}

Error end_use() {
    bool last = false;
    {
        std::lock_guard guard(tool_lock());
        if (uses == 0)
            return failure(abi::t_err_not_initialized,
                           "MPI_T_finalize was called more often than MPI_T_init_thread");
        last = --uses == 0;
        if (last) free_all_cvar_handles();
        if (last) free_all_pvar_sessions();
    }
    if (last) free_all_registrations();
    return {};
}

bool in_use() { return uses > 0; }

Error failure(int code, std::string sentence) { return {code, std::move(sentence)}; }

const ToolEnum *make_enumeration(std::string name, std::vector<std::string> items) {
    ToolEnum *made = enumerations().create();
    if (!made) end_without_memory();
    made->name = std::move(name);
    made->items = std::move(items);
    return made;
}

bool is_enumeration(const void *address) { return enumerations().holds(address); }

void give_text(std::string_view text, char *to, int *length) {
    if (!length) return;
    if (to && *length > 0) {
        size_t copied = std::min(text.size(), static_cast<size_t>(*length) - 1);
        std::memcpy(to, text.data(), copied);
        to[copied] = 0;
    }
    *length = static_cast<int>(text.size()) + 1;
}

int verbosity_of(Audience audience) {
    return audience == Audience::user ? abi::t_verbosity_user_basic : abi::t_verbosity_tuner_detail;
}

}  // namespace lanyard::tool
