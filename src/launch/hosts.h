// The hosts on which a job runs, and the host of each rank: host files, host lists and the mapping. Pure
// functions of text and numbers, called by the option parser. Nothing is opened, resolved or started here.
// Functions that can fail return a sentence that says what is wrong, or "".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lanyard::launch {

struct ListedHost {
    std::string name;   // as passed to the remote shell: NAME, USER@NAME or an address
    int slots = 1;      // ranks that it receives before the next host
    int max_slots = 0;  // ranks that it receives at most; 0: no limit
};
using HostList = std::vector<ListedHost>;

// Parses the lines of a host file in the dialects of MPICH and Open MPI: HOST, HOST:SLOTS or HOST slots=N
// max_slots=N. HOST may be an IPv6 address (in brackets if :SLOTS follows). '#' begins a comment, and '=' may
// have spaces around it. A host that occurs again receives further slots. Files from Windows are accepted
// too: lines that end with CRLF, and a byte-order mark of UTF-8. `file` is the file's name for the sentence,
// as in "hosts.txt:3: slots=x is not a number".
std::string parse_hostfile(std::string_view text, const std::string &file, HostList &hosts);
// "a:2,b,[::1]:4". `of` is the option, for the sentence.
std::string parse_host_list(std::string_view list, const std::string &of, HostList &hosts);

// Compares names only. `own` is the system's name of this machine.
bool is_this_host(std::string_view name, std::string_view own);
// Gives this machine one name, `own`, whatever names the list has for it.
void name_this_host(HostList &hosts, const std::string &own);

struct Mapping {
    // one rank on each host in turn; otherwise each host receives all its slots before the next
    bool by_node = false;
    int ranks_per_host = 0;  // replaces the slots; 0: the slots count
    // more than ranks_per_host is an error; otherwise all hosts receive further ranks in the same order
    bool strict = false;
};

// Where every rank runs, and whatever else of this is the same on all hosts.
struct Placement {
    // those that have ranks, in the order of the list; the index is the node's number
    std::vector<std::string> hosts;
    std::vector<int> node_of_rank;
    int own = -1;  // the node of the process that reads this (mpirun or an agent); -1: none

    // The ranks on `node`, ascending.
    std::vector<int> ranks_on(int node) const;
};

// Hosts that receive no rank are omitted from the placement.
std::string place_ranks(const HostList &hosts, const Mapping &mapping, int ranks, Placement &placement);

// The form in which PMI describes where ranks are: "(vector,(first node,nodes,ranks on each)...)". The list
// is repeated until all ranks of the job have a node.
std::string process_mapping(const std::vector<int> &node_of_rank);

}  // namespace lanyard::launch
