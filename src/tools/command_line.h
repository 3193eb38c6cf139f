// Helps `lanyard` and the benchmark programs to read their command lines.
// Tested by: tests/command/test_lanyard.py, tests/bench/settings_test.cc.
#pragma once

#include <CLI/CLI.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "config/settings.h"

namespace lanyard::tools {

// Replaces "-version" by "--version", because mpirun accepts both.
inline void spell_out_version(int count, char **words) {
    static char spelled_out[] = "--version";
    for (int i = 1; i < count; ++i)
        if (std::strcmp(words[i], "-version") == 0) words[i] = spelled_out;
}

// The option of `app` that the user probably meant by the unknown option `word`, or "".
inline std::string nearest_option(const CLI::App &app, const std::string &word) {
    std::vector<std::string> known;
    for (const CLI::Option *option : app.get_options())
        for (const std::string &name : option->get_lnames()) known.push_back("--" + name);
    return nearest_name(word, known);
}

}  // namespace lanyard::tools
