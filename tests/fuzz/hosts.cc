// Tests the readers of host files and host lists. A text must be read, or be refused with a sentence that
// names the faulty place. Ranks must be mapped to the hosts that were read, and the text of the mapping must
// be readable.
// Input: the text of a host file. Its first line is also used as the list of --host.
#include "launch/hosts.h"

#include "bootstrap/bootstrap.h"
#include "fuzz/fuzz.h"

namespace lanyard::launch {
namespace {

using fuzz::must;

constexpr int most_ranks = 200;

void check_hosts(const HostList &hosts) {
    for (const ListedHost &host : hosts) {
        must(!host.name.empty() && host.name.size() <= 255 && host.name[0] != '-',
             "a name can be given to a remote shell");
        must(host.slots >= 1 && host.slots <= 65536 && host.max_slots >= 0, "slots are what they may be");
        must(is_this_host(host.name, host.name), "a host is the one with its own name");
    }
    for (const Mapping &mapping : {Mapping{}, Mapping{.by_node = true}, Mapping{.ranks_per_host = 2},
                                   Mapping{.ranks_per_host = 1, .strict = true}}) {
        int ranks = static_cast<int>(hosts.size() * 37 % most_ranks) + 1;
        Placement placement;
        std::string wrong = place_ranks(hosts, mapping, ranks, placement);
        if (!wrong.empty()) {
            fuzz::must_be_sentence(wrong);
            continue;
        }
        must(placement.node_of_rank.size() == static_cast<size_t>(ranks), "every rank has a place");
        std::vector<int> again;
        must(parse_process_mapping(process_mapping(placement.node_of_rank), ranks, again),
             "a mapping can be read");
        must(again == placement.node_of_rank, "a mapping is read as it was written");
    }
}

void one_input(std::string_view text) {
    HostList hosts;
    std::string wrong = parse_hostfile(text, "hosts.txt", hosts);
    if (wrong.empty()) {
        check_hosts(hosts);
        name_this_host(hosts, "a");
        check_hosts(hosts);
    } else {
        fuzz::must_be_sentence(wrong);
        must(wrong.starts_with("hosts.txt:"), "the sentence says where");
    }
    HostList list;
    wrong = parse_host_list(text.substr(0, text.find('\n')), "--host", list);
    if (wrong.empty()) check_hosts(list);
    else fuzz::must_be_sentence(wrong);
}

}  // namespace
}  // namespace lanyard::launch

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    lanyard::launch::one_input({reinterpret_cast<const char *>(data), size});
    return 0;
}
