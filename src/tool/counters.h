// What the layers count, in one table: performance variables (pvar.h) are its rows, and whoever else reports counters reads it too.
// A layer counts in fields that the engine's owner changes (base/tally.h), at the price of an increment or less, and offers them by an
// accessor; a row here names it and says what it is. To add a counter: the field, its accessor, a row.
// Thread rule: read() and peak() by any thread, without the engine; what they find may be a moment old.
#pragma once

#include <cstdint>
#include <vector>

#include "base/peak.h"
#include "tool/tool.h"

namespace lanyard {

namespace tool {

struct CounterRow {
    const char *name, *category;
    int pvar_class;        // an abi::t_pvar_class_ value
    SettingLevel level;
    const char *unit;      // of a timer "s", though read() gives nanoseconds
    const char *sentence;
    bool of_comm;          // one for each communicator, of 32 bits
    uint64_t (*read)(const Observed &, const Team *);
    Peak *(*peak)(const Observed &) = nullptr;  // of a high watermark, whose read() gives the level now
    const ToolEnum *enumeration = nullptr;      // of a state
    // Of a level or size that has several values: how many, and each of them; then read() is not called.
    int values = 1;
    uint64_t (*read_each)(const Observed &, int) = nullptr;
    bool of_processes = false;  // one for each process of the job, by number, where there are datagrams; `values` otherwise
};

const std::vector<CounterRow> &counter_table();
// How many values this variable has now.
int values_of(const CounterRow &row);

}  // namespace tool
}  // namespace lanyard
