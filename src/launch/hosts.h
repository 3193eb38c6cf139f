// Determines the hosts on which a job runs, and the host of each rank: parses host files and host lists, and
// maps ranks to hosts. These functions work on text and numbers only: they open no file, resolve no name and
// start nothing. The option parser calls them. A function that can fail returns a sentence about what is
// wrong, or "".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lanyard::launch {

struct ListedHost {
    std::string name;   // the word for the remote shell: NAME, USER@NAME or an address
    int slots = 1;      // how many ranks the host gets in one round (see Mapping)
    int max_slots = 0;  // the most ranks that the host may get; 0 if there is no limit
};
using HostList = std::vector<ListedHost>;

// Parses a host file, in the dialects of MPICH and Open MPI, and adds its hosts to `hosts`. A line is HOST,
// HOST:SLOTS or HOST slots=N max_slots=N user=NAME. HOST may be an IPv6 address, which must be in brackets if
// :SLOTS follows. A '#' begins a comment, and spaces around '=' are allowed. If a host is listed several
// times, its slots are added up. Files from Windows are accepted, too: their lines end with CRLF, and they
// may begin with the byte-order mark of UTF-8. `file` is the name of the file, with which the sentence about
// an error begins, as in "hosts.txt:3: slots=x is not a number".
std::string parse_hostfile(std::string_view text, const std::string &file, HostList &hosts);
// Parses a list of hosts such as "a:2,b,[::1]:4" and adds them to `hosts`. `of` is the option that has this
// list. The sentence about an error begins with the name of the option.
std::string parse_host_list(std::string_view list, const std::string &of, HostList &hosts);

// True if `name` is a name of this machine. `own` is the name that the system gives to this machine. No name
// is resolved.
bool is_this_host(std::string_view name, std::string_view own);
// Replaces every name of this machine in the list by `own`, so that the machine is listed only once.
void name_this_host(HostList &hosts, const std::string &own);

// How ranks are mapped to the hosts of a list. They are distributed in rounds. In one round, each host gets
// as many ranks as it has slots.
struct Mapping {
    // True: in a round, the hosts get one rank each in turn. False: each host gets all its ranks of the round
    // before the next host gets any.
    bool by_node = false;
    int ranks_per_host = 0;  // if not 0, every host has this number of slots, whatever the list says
    // True: there is only one round, so it is an error if the job has more ranks than the hosts have slots.
    bool strict = false;
};

// The host on which each rank runs.
struct Placement {
    // The hosts that have ranks, in the order of the list. The index of a host is its node number.
    std::vector<std::string> hosts;
    std::vector<int> node_of_rank;
    int own = -1;  // the node of this process (mpirun or an agent); -1 if no ranks run on its host

    // The ranks on `node`, in ascending order.
    std::vector<int> ranks_on(int node) const;
};

// Fills in `hosts` and `node_of_rank` of a placement. Hosts without ranks are left out.
std::string place_ranks(const HostList &hosts, const Mapping &mapping, int ranks, Placement &placement);

// Describes where the ranks run in the form of PMI, "(vector,(first node,nodes,ranks on each)...)". Readers
// repeat the list of triples until all ranks of the job have a node. Therefore a list that would repeat
// itself is written only once.
std::string process_mapping(const std::vector<int> &node_of_rank);

}  // namespace lanyard::launch
