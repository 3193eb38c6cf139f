// What mpirun is to do: filled in by the option parser, read by everything after it. Plain values.
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

inline constexpr int most_ranks = 65536;  // of one job

enum class Binding { automatic, none, core };

using Assignments = std::vector<std::pair<std::string, std::string>>;

// One of the programs separated by ':' on the command line.
struct Program {
    int ranks = 1;
    Assignments own;            // -x and -env; they override -genv
    std::string folder;         // -wdir, "" for the current one
    std::vector<std::string> words;  // the program and its arguments
};

struct Plan {
    std::vector<Program> programs;
    // of the option parser, printed before the job starts; not for other hosts
    std::vector<std::string> notes;
    Assignments environment;    // -genv: for every program
    bool tag_output = false;
    std::string output_folder;  // --output: one file for each rank in it
    std::string out_pattern;    // -outfile-pattern
    std::string err_pattern;    // -errfile-pattern
    double timeout_s = 0;       // 0: none
    std::optional<int> stdin_rank = 0;
    Binding binding = Binding::automatic;
    Placement placement;        // where each rank runs; without named hosts, all on this machine
    std::string remote_shell;   // --ssh: program and its first words; "" for ssh
    // --prefix: where Lanyard is on the other hosts; "" for the same place as here
    std::string remote_prefix;
    int fan_out = 16;           // hosts that one host starts

    int ranks() const {
        int sum = 0;
        for (const Program &program : programs) sum += program.ranks;
        return sum;
    }
};

}  // namespace lanyard::launch
