// The settings. They are read once, at the first initialisation, from environment variables LANYARD_<NAME>.
// Each is declared in config/settings.inc and nowhere else; a new setting is added there. The members of
// Settings are plain: reading one costs a load.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/audience.h"
#include "base/error.h"

namespace lanyard {

struct Settings {
#define SETTING(type, member, value, ...) type member = value;
#include "config/settings.inc"
#undef SETTING
};

enum class SettingType { text, boolean, integer };

// What a setting may declare beyond its sentence.
struct SettingOptions {
    int64_t minimum = 0, maximum = 0;  // for an integer
    // For a text with a syntax of its own: what is wrong with it, or "".
    std::string (*refuse)(const std::string &value) = nullptr;
    const char *kind = "";  // for a text that is one of `choices`: what they name
    std::vector<std::string> choices = {};
    const char *unit = "";  // for an integer that does not count bytes: "seconds"
    bool changes = false;   // may be changed at any time; others are read only at the start
    bool alike = false;     // must be equal for all processes of a job
};

struct SettingRow : SettingOptions {
    std::string name;  // without LANYARD_, in upper case, as in the environment
    SettingType type;
    Audience audience;
    std::string sentence;
    union {
        std::string Settings::*text;
        bool Settings::*boolean;
        int64_t Settings::*integer;
    };
};

// The paths of this version, in the words of LANYARD_PATHS.
struct PathName {
    const char *name, *sentence;
};
inline constexpr PathName path_names[] = {
    {"self", "messages of a process to itself"},
    {"shm", "processes of the same machine, through shared memory"},
    {"tcp", "processes of other machines, and of the same one without shm, through TCP connections"},
    {"dgram",
     "the same processes as tcp, instead of it where it is named first, through UDP packets or libfabric's "
     "(LANYARD_DGRAM_IO)"},
};

const std::vector<SettingRow> &setting_table();
// Names beginning with LANYARD_ that are not settings but belong to the launcher or the tools.
const std::vector<const char *> &other_names();

// A contradiction between two settings, as an error sentence that names both; "" if there is none.
std::string contradiction(const Settings &settings);

// Reads the environment (a null-terminated array of "NAME=value"). An invalid value is an error that names
// the variable, the value and what is allowed. An unknown LANYARD_ name is returned in `warnings` with the
// nearest known one. An empty value leaves the default, as if the variable were not set.
Error read_settings(char **environment, Settings &settings, std::vector<std::string> &warnings);
// The same for a caller that reports every invalid value: one sentence for each.
std::vector<std::string> read_all_settings(char **environment, Settings &settings,
                                           std::vector<std::string> &warnings);

// Splits "a,b,c" at its commas. Words may be empty, and there is always at least one.
std::vector<std::string> split_words(const std::string &list);
// True if LANYARD_PATHS names this path.
bool names_path(const Settings &settings, std::string_view path);

// Sets one setting; an empty text sets a text to its default. Returns what is wrong with the value, as a
// sentence, else "".
std::string set_value(Settings &settings, const SettingRow &row, const char *value);

// The value of a setting as text, for reports.
std::string setting_value(const Settings &settings, const SettingRow &row);

// The candidate with the smallest edit distance to `word`, if that is small enough for a slip (at most a
// third of the letters), else "".
std::string nearest_name(const std::string &word, const std::vector<std::string> &candidates);

}  // namespace lanyard
