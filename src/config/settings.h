// Holds the settings. A process of a job reads them once, at the first initialisation of MPI, from the
// environment variables LANYARD_<NAME>; MPI_T can change them (tool/cvar.h). Every setting is declared in
// config/settings.inc and nowhere else; a new setting is added there. The members of Settings are plain
// variables: reading one costs a load.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/audience.h"
#include "base/bytes.h"
#include "base/error.h"

namespace lanyard {

struct Settings {
#define SETTING(type, member, value, ...) type member = value;
#include "config/settings.inc"
#undef SETTING
};

enum class SettingType { text, boolean, integer };

// What a setting may declare in addition to its sentence.
struct SettingOptions {
    int64_t minimum = 0, maximum = 0;  // for an integer: its range
    // For a text with a syntax of its own: returns what is wrong with a value, or "".
    std::string (*refuse)(const std::string &value) = nullptr;
    const char *kind = "";  // for a text that must be one of `choices`: what these words name
    std::vector<std::string> choices = {};
    const char *unit = "";  // for an integer that does not count bytes: its unit, as in "seconds"
    bool changes = false;   // the setting may be changed at any time; if false, it is read only at the start
    bool alike = false;     // the setting must be equal in all processes of a job
};

struct SettingRow : SettingOptions {
    std::string name;  // the name in the environment without LANYARD_, in upper case
    SettingType type;
    Audience audience;
    std::string sentence;
    union {
        std::string Settings::*text;
        bool Settings::*boolean;
        int64_t Settings::*integer;
    };
};

// The paths of this version, with the names that LANYARD_PATHS uses.
struct PathName {
    const char *name, *sentence;
};
inline constexpr PathName path_names[] = {
    {"self", "messages of a process to itself"},
    {"shm", "processes on the same machine, through shared memory"},
    {"tcp", "processes on other machines, and on the same machine without shm, through TCP connections"},
    {"dgram",
     "the same processes as tcp, and instead of tcp if named first, through packets of UDP or libfabric "
     "(LANYARD_DGRAM_IO)"},
};

const std::vector<SettingRow> &setting_table();
// Names of environment variables that begin with LANYARD_ but are not settings. They belong to the launcher,
// the tools or the tests.
const std::vector<const char *> &other_names();

// Returns an error sentence that names two settings that contradict each other; "" if there is no
// contradiction.
std::string contradiction(const Settings &settings);

// Reads the environment (a null-terminated array of "NAME=value"). Returns an error for the first invalid
// value, or for a contradiction. The error for a value names the variable, the value and what is allowed. For
// each unknown LANYARD_ name a sentence is added to `warnings`; it names the most similar setting, if there
// is one. An empty value leaves the default, as if the variable were not set.
Error read_settings(char **environment, Settings &settings, std::vector<std::string> &warnings);
// Like read_settings(), for a caller that reports all errors. Returns one sentence for each error.
std::vector<std::string> read_all_settings(char **environment, Settings &settings,
                                           std::vector<std::string> &warnings);

// Splits "a,b,c" at its commas, and removes the spaces around each word. Words may be empty, and there is
// always at least one.
std::vector<std::string> split_words(const std::string &list);
// True if LANYARD_PATHS names this path.
bool names_path(const Settings &settings, std::string_view path);

// Changes one setting. An empty `value` sets a text setting to its default. Returns "", or a sentence about
// what is wrong with the value; the setting then stays as it was.
std::string set_value(Settings &settings, const SettingRow &row, const char *value);

// The value of a setting as text, for reports.
std::string setting_value(const Settings &settings, const SettingRow &row);

// The candidate with the smallest edit distance to `word`. "" if this distance is more than a third of the
// letters of the longer word, because `word` is then hardly a misspelling of the candidate.
std::string nearest_name(const std::string &word, const std::vector<std::string> &candidates);

}  // namespace lanyard
