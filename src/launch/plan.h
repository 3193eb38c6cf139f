// A Plan describes a job, as mpirun is to run it. The option parser fills it in, and all other parts read it.
// It consists of plain values.
// Tested by: tests/launch/test_options.py.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "launch/hosts.h"

namespace lanyard::launch {

inline constexpr int exit_own_trouble = 1;
inline constexpr int exit_usage = 2;
inline constexpr int exit_timeout = 124;
inline constexpr int exit_not_executable = 126;
inline constexpr int exit_not_found = 127;

inline constexpr int most_ranks = 65536;  // the most ranks of one job

enum class Binding { automatic, none, core };

using Assignments = std::vector<std::pair<std::string, std::string>>;

// One of the programs separated by ':' on the command line.
struct Program {
    int ranks = 1;
    Assignments own;            // -x and -env; these override -genv
    std::string folder;         // -wdir; "" for the current folder
    std::vector<std::string> words;  // the program and its arguments
};

struct Plan {
    std::vector<Program> programs;
    // Remarks of the option parser, which mpirun prints before the job starts. Not sent to other hosts.
    std::vector<std::string> notes;
    Assignments environment;    // -genv: variables for every program
    bool tag_output = false;
    std::string output_folder;  // --output: the folder that gets one file for each rank
    std::string out_pattern;    // -outfile-pattern
    std::string err_pattern;    // -errfile-pattern
    double timeout_s = 0;       // --timeout; 0 if there is no limit
    std::optional<int> stdin_rank = 0;  // --stdin: the rank that reads standard input; empty: none does
    Binding binding = Binding::automatic;
    Placement placement;        // where each rank runs; if no hosts are named, all run on this machine
    std::string remote_shell;   // --ssh: the program and its first words; "" for ssh
    // --prefix: the folder of Lanyard on the other hosts; "" for the same folder as here
    std::string remote_prefix;
    int fan_out = 16;           // --fan-out: the most hosts that one host starts

    int ranks() const {
        int sum = 0;
        for (const Program &program : programs) sum += program.ranks;
        return sum;
    }
};

}  // namespace lanyard::launch
