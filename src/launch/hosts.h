// Which hosts a job runs on and which rank on which of them: host files, host lists and the mapping. Pure functions of
// text and numbers, called by the option parser; nothing is opened, resolved or started here. Functions that can fail
// return the sentence that says what is wrong, "" where all is well.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lanyard::launch {

struct ListedHost {
    std::string name;   // as the remote shell gets it: NAME, USER@NAME or an address
    int slots = 1;      // ranks it gets before the next host has its turn
    int max_slots = 0;  // ranks it gets at most; 0: no limit
};
using HostList = std::vector<ListedHost>;

// Lines of a host file in the dialects of MPICH and Open MPI: HOST, HOST:SLOTS or HOST slots=N max_slots=N,
// where HOST may be an IPv6 address (in brackets where :SLOTS follows); '#' begins a comment, and around '='
// there may be spaces. A host that occurs again gets further slots. Files from Windows are read too: lines
// that end with CRLF, a byte-order mark of UTF-8. `file` is its name for the sentence, as in "hosts.txt:3:
// slots=x is not a number".
std::string parse_hostfile(std::string_view text, const std::string &file, HostList &hosts);
// "a:2,b,[::1]:4"; `of` is the option for the sentence.
std::string parse_host_list(std::string_view list, const std::string &of, HostList &hosts);

// By name alone: `own` is what the system calls this machine.
bool is_this_host(std::string_view name, std::string_view own);
// Gives this machine one name, `own`, whatever the list calls it.
void name_this_host(HostList &hosts, const std::string &own);

struct Mapping {
    bool by_node = false;    // one rank on each host in turn; else each host gets all its slots before the next
    int ranks_per_host = 0;  // counts instead of the slots; 0: the slots count
    bool strict = false;     // more than ranks_per_host is an error; else all hosts get further ranks in the same order
};

// Where every rank runs, and whatever of that is the same on all hosts.
struct Placement {
    std::vector<std::string> hosts;  // those that have ranks, in the order of the list; the index is the node's number
    std::vector<int> node_of_rank;
    int own = -1;  // the node that is the machine mpirun runs on; -1: none

    // Ranks of `node`, ascending.
    std::vector<int> ranks_on(int node) const;
};

// Hosts that get no rank are left out of the placement.
std::string place_ranks(const HostList &hosts, const Mapping &mapping, int ranks, Placement &placement);

// The form in which PMI tells where ranks are: "(vector,(first node,nodes,ranks on each)...)", the whole repeated as often
// as the job has ranks for.
std::string process_mapping(const std::vector<int> &node_of_rank);

}  // namespace lanyard::launch
