// See settings.h.
#include "config/settings.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "config/harm.h"

namespace lanyard {

namespace {

using Names = std::vector<std::string>;

template <class Row>
Names names_of(std::span<const Row> rows) {
    Names names;
    for (const Row &row : rows) names.emplace_back(row.name);
    return names;
}

// Joins names as in "a, b and c"; `last` is the word before the last name.
std::string enumerate(const Names &names, const char *last) {
    std::string text;
    for (size_t i = 0; i < names.size(); ++i)
        text += (i == 0 ? "" : i + 1 == names.size() ? std::string(" ") + last + " " : ", ") + names[i];
    return text;
}

// The beginning of a sentence about a word that is not one of `known`; "" if the word is one of them.
std::string refuse_word(const char *kind, const std::string &word, const Names &known) {
    if (std::find(known.begin(), known.end(), word) != known.end()) return "";
    std::string nearest = nearest_name(word, known);
    return std::string("there is no ") + kind + " \"" + word + "\"" +
           (nearest.empty() ? "" : ", did you mean " + nearest + "?") + "; ";
}

std::string refuse_choice(const char *kind, const std::string &value, const Names &known) {
    std::string wrong = refuse_word(kind, value, known);
    return wrong.empty() ? wrong : wrong + "it takes " + enumerate(known, "or");
}

std::string refuse_paths(const std::string &value) {
    Names known = names_of(std::span<const PathName>(path_names));
    std::string remedy = "the paths are " + enumerate(known, "and");
    Names words = split_words(value);
    if (std::all_of(words.begin(), words.end(), [](const std::string &word) { return word.empty(); }))
        return "it names no path; " + remedy;
    for (const std::string &word : words)
        if (std::string wrong = refuse_word("path", word, known); !wrong.empty()) return wrong + remedy;
    return "";
}

std::string refuse_harm(const std::string &value) {
    Harm harm;
    return parse_harm(value, harm);
}

// Returns "" if the value is udp, libfabric or libfabric:PROVIDER; otherwise what is allowed.
std::string refuse_dgram_io(const std::string &value) {
    constexpr std::string_view fabric = "libfabric";
    std::string_view word = value;
    if (word == "udp" || word == fabric) return "";
    bool named = word.starts_with(fabric) && word.size() > fabric.size() + 1 && word[fabric.size()] == ':';
    bool good = named && std::all_of(word.begin() + fabric.size() + 1, word.end(), [](unsigned char letter) {
        return std::isalnum(letter) || letter == '_' || letter == '-' || letter == ';';
    });
    return good ? ""
                : "it takes udp, libfabric, or libfabric with a colon and the name of a provider, like "
                  "libfabric:verbs";
}

std::string refuse_log(const std::string &value) {
    Names levels = names_of(std::span<const LogName>(log_levels)),
          parts = names_of(std::span<const LogName>(log_parts));
    Names words = split_words(value);
    if (std::string wrong = refuse_word("level", words.front(), levels); !wrong.empty())
        return wrong + "it begins with " + enumerate(levels, "or") + ", and parts may follow after commas";
    for (auto word = words.begin() + 1; word != words.end(); ++word)
        if (std::string wrong = refuse_word("part", *word, parts); !wrong.empty())
            return wrong + "the parts are " + enumerate(parts, "and");
    return "";
}

// Reads "16384", "16k", "2m" or "1g". False if the text is something else.
bool parse_integer(const char *text, int64_t &value) {
    char *end = nullptr;
    long long number = std::strtoll(text, &end, 10);
    if (end == text) return false;
    int shift = *end == 'k' || *end == 'K'   ? 10
                : *end == 'm' || *end == 'M' ? 20
                : *end == 'g' || *end == 'G' ? 30
                                             : 0;
    if (shift) ++end;
    if (*end || number > INT64_MAX >> shift || number < INT64_MIN >> shift) return false;
    value = static_cast<int64_t>(number) << shift;
    return true;
}

bool parse_boolean(const std::string &text, bool &value) {
    if (text == "on" || text == "1" || text == "yes" || text == "true") value = true;
    else if (text == "off" || text == "0" || text == "no" || text == "false") value = false;
    else return false;
    return true;
}

// Returns "" if the value is a range of ports, or empty; otherwise what is allowed.
std::string refuse_port_range(const std::string &value) {
    size_t dash = value.find('-');
    int64_t least = 0, most = 0;
    bool good = dash != std::string::npos && parse_integer(value.substr(0, dash).c_str(), least) &&
                parse_integer(value.substr(dash + 1).c_str(), most) && least >= 1 && least <= most &&
                most <= 65535;
    return good || value.empty()
               ? ""
               : "it takes two ports from 1 to 65535 with a dash between them, like 5000-5100";
}

// The smallest number of changes that turn one word into the other. A change adds, drops or replaces a
// letter, or exchanges two neighbouring letters.
size_t edit_distance(const std::string &a, const std::string &b) {
    std::vector<size_t> row(b.size() + 1), above, two_above;
    for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (size_t i = 1; i <= a.size(); ++i) {
        two_above = std::exchange(above, row);
        row[0] = i;
        for (size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1])});
            bool exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (exchanged) row[j] = std::min(row[j], two_above[j - 2] + 1);
        }
    }
    return row[b.size()];
}

void point(SettingRow &row, std::string Settings::*member) {
    row.type = SettingType::text;
    row.text = member;
}
void point(SettingRow &row, bool Settings::*member) {
    row.type = SettingType::boolean;
    row.boolean = member;
}
void point(SettingRow &row, int64_t Settings::*member) {
    row.type = SettingType::integer;
    row.integer = member;
}

template <class T>
SettingRow row_of(std::string name, T Settings::*member, Audience audience, std::string sentence,
                  SettingOptions options) {
    for (char &letter : name) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
    SettingRow row{std::move(options), std::move(name), {}, audience, std::move(sentence), {}};
    point(row, member);
    return row;
}

}  // namespace

const std::vector<SettingRow> &setting_table() {
    using enum Audience;
    static const std::vector<SettingRow> table = {
#define SETTING(type, member, value, audience, sentence, ...) \
    row_of(#member, &Settings::member, audience, sentence, {__VA_ARGS__}),
#include "config/settings.inc"
#undef SETTING
    };
    return table;
}

const std::vector<const char *> &other_names() {
    static const std::vector<const char *> names = {
        "LANYARD_JOB",   "LANYARD_SEGMENT_FD", "LANYARD_LOCAL_RANK",   "LANYARD_LOCAL_SIZE",
        "LANYARD_RANK",  "LANYARD_SIZE",       "LANYARD_CC",           "LANYARD_CXX",
        "LANYARD_BUILD", "LANYARD_SHARED",     "LANYARD_TEST_SECONDS", "LANYARD_TEST_SEED",
        "LANYARD_HOME",  "LANYARD_TEST_ALL",   "LANYARD_TEST_FEW",     "LANYARD_SETUP",
        "LANYARD_LAB",   "LANYARD_LAB_SSH",    "LANYARD_PMI_FD",       "LANYARD_MAXPROCS",
    };
    return names;
}

std::string nearest_name(const std::string &word, const std::vector<std::string> &candidates) {
    std::string best;
    size_t best_distance = SIZE_MAX;
    for (const std::string &candidate : candidates) {
        size_t distance = edit_distance(word, candidate);
        // At most a third of the letters may be misspelt. So words of one or two letters are never similar:
        // every change makes another word of them.
        bool close = distance <= std::max(word.size(), candidate.size()) / 3;
        if (close && distance < best_distance) {
            best = candidate;
            best_distance = distance;
        }
    }
    return best;
}

std::string set_value(Settings &settings, const SettingRow &row, const char *value) {
    auto refused = [&](const std::string &allowed) {
        return std::string("LANYARD_") + row.name + "=" + value + " cannot be used: " + allowed;
    };
    if (row.type == SettingType::text && !*value) settings.*row.text = Settings().*row.text;
    else if (row.type == SettingType::text) {
        std::string wrong = row.refuse            ? row.refuse(value)
                            : row.choices.empty() ? ""
                                                  : refuse_choice(row.kind, value, row.choices);
        if (!wrong.empty()) return refused(wrong);
        settings.*row.text = value;
    }
    if (row.type == SettingType::boolean && !parse_boolean(value, settings.*row.boolean))
        return refused("it takes on or off");
    if (row.type == SettingType::integer) {
        int64_t number = 0;
        bool bytes = !*row.unit,
             good = parse_integer(value, number) && (bytes || !std::strpbrk(value, "kKmMgG"));
        if (!good || number < row.minimum || number > row.maximum)
            return refused(std::string("it takes a whole number of ") + (bytes ? "bytes" : row.unit) +
                           " from " + std::to_string(row.minimum) + " to " + std::to_string(row.maximum) +
                           (bytes ? " (k, m and g may follow)" : ""));
        settings.*row.integer = number;
    }
    return {};
}

std::vector<std::string> split_words(const std::string &list) {
    std::vector<std::string> words;
    for (size_t from = 0; from <= list.size();) {
        size_t comma = std::min(list.find(',', from), list.size());
        std::string word = list.substr(from, comma - from);
        word.erase(0, word.find_first_not_of(' '));
        word.erase(word.find_last_not_of(' ') + 1);
        words.push_back(std::move(word));
        from = comma + 1;
    }
    return words;
}

bool names_path(const Settings &settings, std::string_view path) {
    std::vector<std::string> words = split_words(settings.paths);
    return std::find(words.begin(), words.end(), path) != words.end();
}

std::string contradiction(const Settings &settings) {
    const std::string &datagrams = settings.dgram_progress, &all = settings.progress;
    bool thread = datagrams == "thread" || datagrams == "hybrid";
    if (!(thread && all == "caller") && !(datagrams == "engine" && all == "helper")) return "";
    return "LANYARD_DGRAM_PROGRESS=" + datagrams + " cannot be used: LANYARD_PROGRESS=" + all + " asks for " +
           (thread ? "no thread" : "a thread that moves messages") +
           " beside the program's; leave one of the two out";
}

std::vector<std::string> read_all_settings(char **environment, Settings &settings,
                                           std::vector<std::string> &warnings) {
    std::vector<std::string> known, refused;
    for (const SettingRow &row : setting_table()) known.push_back(std::string("LANYARD_") + row.name);
    for (; environment && *environment; ++environment) {
        if (std::strncmp(*environment, "LANYARD_", 8) != 0) continue;
        const char *equals = std::strchr(*environment, '=');
        if (!equals) continue;
        std::string name(static_cast<const char *>(*environment), equals);
        auto row = std::find(known.begin(), known.end(), name);
        if (row != known.end()) {
            if (equals[1] == 0) continue;  // an empty value counts as not set
            std::string wrong =
                set_value(settings, setting_table()[static_cast<size_t>(row - known.begin())], equals + 1);
            if (!wrong.empty()) refused.push_back(std::move(wrong));
            continue;
        }
        bool other = std::any_of(other_names().begin(), other_names().end(),
                                 [&](const char *allowed) { return name == allowed; });
        if (other) continue;
        // The names are compared without LANYARD_, which would make all of them similar.
        std::string nearest =
            nearest_name(name.substr(8), names_of(std::span<const SettingRow>(setting_table())));
        warnings.push_back(name + " is not a setting of Lanyard" +
                           (nearest.empty() ? "" : ", did you mean LANYARD_" + nearest + "?") +
                           " (all settings: lanyard info --settings)");
    }
    if (std::string wrong = contradiction(settings); !wrong.empty()) refused.push_back(std::move(wrong));
    return refused;
}

Error read_settings(char **environment, Settings &settings, std::vector<std::string> &warnings) {
    std::vector<std::string> refused = read_all_settings(environment, settings, warnings);
    return refused.empty() ? Error() : Error(ErrorClass::arg, refused.front());
}

std::string setting_value(const Settings &settings, const SettingRow &row) {
    if (row.type == SettingType::text) return settings.*row.text;
    if (row.type == SettingType::boolean) return settings.*row.boolean ? "on" : "off";
    return std::to_string(settings.*row.integer);
}

}  // namespace lanyard
