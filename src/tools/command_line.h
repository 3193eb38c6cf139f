// What `lanyard` and the benchmark programs share for reading their command lines.
#pragma once

#include <CLI/CLI.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "config/settings.h"

namespace lanyard::tools {

// Replaces "-version", which mpirun accepts too, by "--version".
inline void spell_out_version(int count, char **words) {
    static char spelled_out[] = "--version";
    for (int i = 1; i < count; ++i)
        if (std::strcmp(words[i], "-version") == 0) words[i] = spelled_out;
}

// The option of `app` that an unknown one probably means, or "".
inline std::string nearest_option(const CLI::App &app, const std::string &word) {
    std::vector<std::string> known;
    for (const CLI::Option *option : app.get_options())
        for (const std::string &name : option->get_lnames()) known.push_back("--" + name);
    return nearest_name(word, known);
}

}  // namespace lanyard::tools
