// See category.h.
#include "tool/category.h"

#include <cstring>

#include "tool/cvar.h"
#include "tool/event.h"
#include "tool/pvar.h"

namespace lanyard::tool {

namespace {

template <class Row>
std::vector<int> members(const std::vector<Row> &rows, const char *category) {
    std::vector<int> found;
    for (size_t i = 0; i < rows.size(); ++i)
        if (std::strcmp(rows[i].category, category) == 0) found.push_back(static_cast<int>(i));
    return found;
}

}  // namespace

const std::vector<Category> &categories() {
    static const std::vector<Category> table = [] {
        std::vector<Category> made = {
            {"lanyard", "the whole library", {}, {}, {}, {}},
            {"settings", "the settings, as in the environment (lanyard info --settings)", {}, {}, {}, {}},
            {"p2p", "messages and what they wait for", {}, {}, {}, {}},
            {"engine", "how threads wait, and what moves messages", {}, {}, {}, {}},
            {"network", "connections between processes that share no memory", {}, {}, {}, {}},
            {"dgram", "datagrams between processes that share no memory", {}, {}, {}, {}},
            {"shm", "the shared memory of the processes of a node", {}, {}, {}, {}},
            {"coll", "collective operations", {}, {}, {}, {}},
        };
        for (size_t i = 0; i < made.size(); ++i) {
            if (i > 0) made.front().categories.push_back(static_cast<int>(i));
            made[i].cvars = members(cvars(), made[i].name);
            made[i].pvars = members(pvars(), made[i].name);
            made[i].events = members(event_table(), made[i].name);
        }
        return made;
    }();
    return table;
}

}  // namespace lanyard::tool
