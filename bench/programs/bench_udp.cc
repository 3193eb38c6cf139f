// bench-udp runs over bare UDP with the sizes and the pattern of bench-latency, and prints its results in the
// same form:
//   bench-udp latency [OPTIONS]
// The datagram path is compared with it. Started by `lanyard bench udp` or by bench/compare, never through
// mpirun. See tcp.h.
#include "bench/programs/tcp.h"

namespace lanyard::bench {
namespace {

const Pattern patterns[] = {
    {{.name = "latency",
      .purpose = "Half round trip over bare UDP, per size; what needs more than one datagram is left out.",
      .sizes = "1-32k"},
     {"half round trip", "us"},
     measure_udp_latency},
};

}  // namespace
}  // namespace lanyard::bench

int main(int argc, char** argv) {
    return lanyard::bench::run_bare("udp", lanyard::bench::patterns, argc, argv);
}
