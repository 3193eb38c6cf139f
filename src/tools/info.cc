// lanyard info: what this library has (--coverage), what can be set (--settings) and how processes are reached (--paths).
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "config/settings.h"
#include "tools/commands.h"
#include "tools/coverage.h"
#include "tools/json.h"

namespace lanyard::tools {

namespace {

int fail(const std::string &sentence) {
    fmt::print(stderr, "lanyard: {}\n", sentence);
    return 1;
}

// The settings as the environment has them, with the words of what is wrong there on standard error.
bool settings_now(Settings &settings) {
    std::vector<std::string> warnings;
    std::vector<std::string> refused = read_all_settings(environ, settings, warnings);
    for (const std::vector<std::string> *sentences : {&warnings, &refused})
        for (const std::string &sentence : *sentences) fmt::print(stderr, "lanyard: {}\n", sentence);
    return refused.empty();
}

const char *type_name(SettingType type) {
    return type == SettingType::text ? "text" : type == SettingType::boolean ? "on or off" : "number";
}

int show_settings(bool json) {
    Settings now, usual;
    if (!settings_now(now)) return 1;
    JsonList list;
    for (const SettingRow &row : setting_table()) {
        std::string name = std::string("LANYARD_") + row.name, value = setting_value(now, row), standard = setting_value(usual, row);
        std::string level = row.level == SettingLevel::user ? "user" : "expert";
        list.push_back({{{"name", name}, {"type", std::string(type_name(row.type))}, {"level", level}, {"default", standard}, {"value", value},
                         {"sentence", std::string(row.sentence)}}});
        if (json) continue;
        std::string set = value == standard ? "" : fmt::format(" (now {})", value);
        const char *warning = row.level == SettingLevel::expert ? "for experts, " : "";
        fmt::print("{}={}{}\n    {}{}; {}.\n", name, standard, set, warning, type_name(row.type), row.sentence);
    }
    if (json) fmt::print("{}", json_text(list));
    return 0;
}

int show_coverage(const Place &place, bool names, bool json) {
    Coverage coverage;
    if (Error error = find_coverage(place, coverage)) return fail(error.take().sentence);
    fmt::print("{}", json ? coverage_json(coverage) : coverage_table_text(coverage, names));
    return 0;
}

int show_paths(bool json) {
    Settings settings;
    if (!settings_now(settings)) return 1;
    std::vector<std::string> wanted = split_words(settings.paths);
    JsonList report;
    for (const PathName &row : path_names) {
        bool chosen = std::find(wanted.begin(), wanted.end(), row.name) != wanted.end();
        report.push_back({{{"name", std::string(row.name)}, {"sentence", std::string(row.sentence)}, {"chosen", chosen}}});
        if (!json) fmt::print("{:<5} {:<4} {}\n", row.name, chosen ? "used" : "off", row.sentence);
    }
    if (json) fmt::print("{}", json_text(report));
    return 0;
}

int show_all(const Place &place) {
    fmt::print("Lanyard {}, in {}\n", LANYARD_VERSION, place.prefix);
    Coverage coverage;
    if (Error error = find_coverage(place, coverage)) return fail(error.take().sentence);
    size_t implemented = 0;
    for (const Coverage::Function &function : coverage.functions) implemented += function.implemented;
    fmt::print("MPI-5.0: {} of {} functions are implemented (lanyard info --coverage)\n", implemented, coverage.functions.size());
    fmt::print("{} settings (lanyard info --settings); paths (lanyard info --paths):\n", setting_table().size());
    return show_paths(false);
}

}  // namespace

int run_info(const Place &place, const InfoOptions &chosen) {
    if (chosen.settings) return show_settings(chosen.json);
    if (chosen.coverage || chosen.missing) return show_coverage(place, chosen.missing, chosen.json);
    if (chosen.paths) return show_paths(chosen.json);
    if (chosen.json) return fail("--json goes with --settings, --coverage or --paths");
    return show_all(place);
}

}  // namespace lanyard::tools
