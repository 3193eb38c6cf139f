// Prints the cost of writing the schedule (the list of steps) of one MPI_Allreduce of 8 bytes on a
// communicator of 4 processes. It prints the cost for messages between the processes, and for data passed
// through the memory of a node.
//
//     schedule-cost [--json]
//
// The figure is the median of many short runs, so that other load on the machine matters little.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

#include "base/abi_constants.h"
#include "base/clock.h"
#include "coll/select.h"
#include "coll/shm/node_area.h"
#include "datatype/predefined.h"

using namespace lanyard;

namespace {

constexpr int ranks = 4, runs = 2000, schedules = 200;

double median_ns(bool on_one_node, const char *algorithm) {
    Selection selection;
    if (Error error = parse_selection(algorithm, selection)) return -1;
    std::vector<std::byte> memory(node_area_bytes(ranks));
    Team team;
    team.size = ranks;
    team.index = 1;
    if (on_one_node) {
        team.node_area = memory.data();
        team.node_area_bytes = memory.size();
    }
    ReduceShape shape;
    shape.size = ranks;
    shape.index = 1;
    shape.op = predefined_op(abi::op_sum);
    shape.contribution = {Space::send, 0, 1, predefined_datatype(abi::type_double)};
    shape.result = {Space::receive, 0, 1, predefined_datatype(abi::type_double)};
    Schedule schedule;
    std::vector<double> each_ns;
    for (int run = 0; run < runs; ++run) {
        uint64_t before = clock_ns();
        for (int i = 0; i < schedules; ++i) {
            schedule.clear();
            make_allreduce(selection, team, shape, schedule);
        }
        each_ns.push_back(static_cast<double>(clock_ns() - before) / schedules);
    }
    std::sort(each_ns.begin(), each_ns.end());
    return each_ns[runs / 2];
}

}  // namespace

int main(int argc, char **argv) {
    bool json = argc > 1 && std::strcmp(argv[1], "--json") == 0;
    double messages = median_ns(false, "allreduce=recursive_doubling"), node = median_ns(true, "");
    const char *format =
        json
            ? "{\"results\": [{\"name\": \"schedule of messages\", \"median\": %.1f, \"unit\": \"ns\"}, "
              "{\"name\": \"schedule through the node's memory\", \"median\": %.1f, \"unit\": \"ns\"}]}\n"
            : "allreduce of 8 bytes, 4 ranks: %.1f ns by recursive doubling, "
              "%.1f ns through the node's memory\n";
    std::printf(format, messages, node);
    return 0;
}
