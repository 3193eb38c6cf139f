// The one table of settings: name, type, default, level and one sentence each. Read once, at the first initialisation,
// from environment variables LANYARD_<NAME>; `lanyard info --settings` and the documentation print this same table.
// Add a setting: a row in `setting_table` and a member of Settings.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"

namespace lanyard {

struct Settings {
    std::string paths = "self,shm";
    std::string log;
    bool check = false;
    std::string shm_dir = "/dev/shm";
    int64_t eager_limit = 16384;
    int64_t eager_credit = 512 * 1024;
    bool cma = true;
    int64_t spin_us = -1;
};

enum class SettingType { text, boolean, integer };
enum class SettingLevel { user, expert };

struct SettingRow {
    const char *name;  // without LANYARD_, upper case, as in the environment
    SettingType type;
    SettingLevel level;
    const char *sentence;
    union {
        std::string Settings::*text;
        bool Settings::*boolean;
        int64_t Settings::*integer;
    };
    int64_t minimum, maximum;  // of an integer
};

const std::vector<SettingRow> &setting_table();
// Names beginning with LANYARD_ that are not settings but belong to the launcher or the tools.
const std::vector<const char *> &other_names();

// Reads the environment (a null-terminated array of "NAME=value"). A value that cannot be understood is an error naming
// the variable, the value and what is allowed; an unknown LANYARD_ name is returned in `warnings` with the nearest known one.
Error read_settings(char **environment, Settings &settings, std::vector<std::string> &warnings);

// The value of a setting as text, for reports.
std::string setting_value(const Settings &settings, const SettingRow &row);

// The candidate with the smallest edit distance to `word` if that is close enough to be a slip, else "".
std::string nearest_name(const std::string &word, const std::vector<std::string> &candidates);

}  // namespace lanyard
