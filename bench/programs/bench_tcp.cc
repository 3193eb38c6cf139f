// bench-tcp runs over bare TCP with the same sizes, writes and patterns as the MPI programs of the same
// names, and prints its results in the same form:
//   bench-tcp latency|bandwidth|unidirectional|overlap|allreduce [OPTIONS]
// The pattern allreduce runs among processes of this host. The other patterns run between two processes.
// Started by `lanyard bench tcp` or by bench/compare, never through mpirun. See tcp.h.
#include "bench/programs/overlap.h"
#include "bench/programs/tcp.h"

namespace lanyard::bench {
namespace {

const Pattern patterns[] = {
    {{.name = "latency", .purpose = "Half round trip over bare TCP, per size.", .sizes = "1-4M"},
     {"half round trip", "us"},
     measure_tcp_latency},
    {{.name = "bandwidth",
      .purpose = "Bytes per second over bare TCP, in windows of messages, per size.",
      .sizes = "1-4M",
      .windows = true},
     {"one-way bandwidth", "GB/s"},
     measure_tcp_bandwidth},
    {{.name = "unidirectional",
      .purpose = "Bytes per second over bare TCP, and the processor use of both sides, per size.",
      .sizes = "1k-4M",
      .windows = true},
     {"one-way bandwidth and processor use", "GB/s"},
     measure_tcp_unidirectional},
    {{.name = "overlap",
      .purpose = "How much a thread in epoll transfers while this thread works, per size.",
      .sizes = overlap_sizes,
      .blocks = overlap_blocks,
      .timed_blocks = false,
      .parts = {"receive", "send", "alltoall"},
      .works = true},
     {"a transfer and work at the same time", "us"},
     measure_tcp_overlap},
    {{.name = "allreduce",
      .purpose = "The messages of one allreduce over bare TCP, up and down a binomial tree, per size.",
      .sizes = "8-1M",
      .ranks = 8},
     {"time of one call", "us"},
     nullptr,
     measure_tcp_allreduce},
};

}  // namespace
}  // namespace lanyard::bench

int main(int argc, char** argv) {
    return lanyard::bench::run_bare("tcp", lanyard::bench::patterns, argc, argv);
}
