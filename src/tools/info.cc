// lanyard info: reports which functions this library has (--coverage), which settings there are (--settings),
// by which paths processes are reached (--paths), and which collective algorithms are chosen (--coll).
// Tested by: tests/command/test_lanyard.py.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "base/error.h"
#include "base/processors.h"
#include "coll/select.h"
#include "config/settings.h"
#include "net/address.h"
#include "tools/commands.h"
#include "tools/coverage.h"
#include "tools/json.h"

namespace lanyard::tools {

namespace {

int fail(const std::string &sentence, int exit_code = 1) {
    fmt::print(stderr, "lanyard: {}\n", sentence);
    return exit_code;
}

// Reads the settings from the environment, and prints to standard error what is wrong with them. False if a
// value cannot be used.
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
    bool good = settings_now(now);
    JsonList list;
    for (const SettingRow &row : setting_table()) {
        std::string name = std::string("LANYARD_") + row.name, value = setting_value(now, row),
                    standard = setting_value(usual, row);
        std::string level = row.audience == Audience::user ? "user" : "expert";
        list.push_back({{{"name", name},
                         {"type", std::string(type_name(row.type))},
                         {"level", level},
                         {"default", standard},
                         {"value", value},
                         {"sentence", std::string(row.sentence)}}});
        if (json) continue;
        std::string set = value == standard ? "" : fmt::format(" (now {})", value);
        const char *warning = row.audience == Audience::expert ? "for experts, " : "";
        fmt::print("{}={}{}\n    {}{}; {}.\n", name, standard, set, warning, type_name(row.type),
                   row.sentence);
    }
    if (json) fmt::print("{}", json_text(list));
    return good ? 0 : 1;
}

int show_coverage(const Installation &installation, bool names, bool json) {
    Coverage coverage;
    if (Error error = find_coverage(installation, coverage)) return fail(error.take().sentence);
    fmt::print("{}", json ? coverage_json(coverage) : coverage_table_text(coverage, names));
    return 0;
}

// Adds the addresses of this host to the report: which of them are published to other hosts, and why the
// others are not.
Error list_addresses(const Settings &settings, JsonList &report) {
    std::vector<Interface> all = interfaces(), chosen;
    if (Error error = choose_interfaces(settings.interfaces, all, chosen)) return error;
    for (const Interface &interface : all) {
        bool named = std::any_of(chosen.begin(), chosen.end(),
                                 [&](const Interface &each) { return each.address == interface.address; });
        bool published = named && interface.address.scope == 0 && !interface.loopback;
        const char *why = why_left_out(interface);
        std::string reason = published                              ? ""
                             : named || settings.interfaces.empty() ? (why ? why : "")
                                                                    : "LANYARD_INTERFACES does not name it";
        const char *state = !interface.up ? "down" : interface.carrier ? "up" : "no carrier";
        report.push_back({{{"interface", interface.name},
                           {"address", to_text(interface.address)},
                           {"state", std::string(state)},
                           {"speed_mbit", interface_speed_mbit(interface.name)},
                           {"published", published},
                           {"why", reason}}});
    }
    return {};
}

void print_addresses(const JsonList &addresses) {
    for (const JsonObject &each : addresses) {
        auto text = [&](size_t member) { return std::get<std::string>(each.members[member].second); };
        int64_t speed_mbit = std::get<int64_t>(each.members[3].second);
        std::string speed = speed_mbit ? fmt::format("{} Mbit/s", speed_mbit) : "speed unknown";
        std::string verdict =
            std::get<bool>(each.members[4].second) ? "published to other hosts" : "left out: " + text(5);
        fmt::print("           {} ({}), {}, {}; {}\n", text(1), text(0), text(2), speed, verdict);
    }
}

// The rates of the copy methods within a node for messages of one length.
struct Copies {
    uint64_t bytes, once, twice, once_mapped, twice_mapped;  // the length, and the rates in MB/s
};
// Measures the rates by a short job of two processes on this machine. If that is not possible, `why` becomes
// the reason.
std::vector<Copies> learn_copies(const Installation &installation, std::string &why) {
    std::string command = fmt::format("'{}' --timeout 20 -n 2 '{}' 2>&1", installation.program("mpirun"),
                                      installation.helper("long-messages"));
    std::vector<Copies> learned;
    FILE *output = popen(command.c_str(), "r");
    if (!output) why = system_text(errno);
    char line[512];
    while (output && std::fgets(line, sizeof line, output)) {
        Copies row{};
        bool good = std::sscanf(line, "%lu %lu %lu %lu %lu", &row.bytes, &row.once, &row.twice,
                                &row.once_mapped, &row.twice_mapped) == 5;
        if (good) learned.push_back(row);
        else if (why.empty()) why.assign(line, std::strcspn(line, "\n"));
    }
    if (output && pclose(output) != 0) learned.clear();
    return learned;
}

const char *better(uint64_t once, uint64_t twice) { return once > twice ? "once" : twice ? "twice" : ""; }

std::string rates_in_words(uint64_t once, uint64_t twice) {
    auto rate = [](uint64_t mb_per_s) {
        return mb_per_s ? fmt::format("{:.1f}", static_cast<double>(mb_per_s) / 1000) : std::string("-");
    };
    return fmt::format("{:>7} {:>7}  {:<6}", rate(once), rate(twice), better(once, twice));
}

void print_copies(const std::vector<Copies> &copies, const std::string &why) {
    if (copies.empty())
        return fmt::print("           how long messages are copied could not be tried: {}\n", why);
    fmt::print(
        "           long messages are copied once or twice, whichever proves to be faster (LANYARD_COPIES); "
        "rates between two processes here in GB/s:\n");
    bool tried =
        std::any_of(copies.begin(), copies.end(), [](const Copies &row) { return row.once || row.twice; });
    if (!tried)
        fmt::print(
            "           (a setting or the kernel permits only one copy method between the processes' own "
            "memory)\n");
    fmt::print("           {:>8}  {:>7} {:>7}  {:<6}   from memory of MPI_Alloc_mem: once, twice\n", "bytes",
               "once", "twice", "");
    for (const Copies &row : copies)
        fmt::print("           {:>8}  {}  {}\n", row.bytes, rates_in_words(row.once, row.twice),
                   rates_in_words(row.once_mapped, row.twice_mapped));
}

JsonList copies_as_json(const std::vector<Copies> &copies) {
    JsonList list;
    auto number = [](uint64_t value) { return static_cast<int64_t>(value); };
    for (const Copies &row : copies)
        list.push_back({{{"bytes", number(row.bytes)},
                         {"once_mb_per_s", number(row.once)},
                         {"twice_mb_per_s", number(row.twice)},
                         {"chosen", std::string(better(row.once, row.twice))},
                         {"once_mapped_mb_per_s", number(row.once_mapped)},
                         {"twice_mapped_mb_per_s", number(row.twice_mapped)},
                         {"chosen_mapped", std::string(better(row.once_mapped, row.twice_mapped))}}});
    return list;
}

// Prints the paths. `installation` is the one whose mpirun starts a job that measures the copy methods. If
// `installation` is nullptr, nothing is measured.
int show_paths(const Installation *installation, bool json) {
    Settings settings;
    if (!settings_now(settings)) return 1;
    std::vector<std::string> wanted = split_words(settings.paths);
    JsonList report, addresses;
    if (Error error = list_addresses(settings, addresses)) return fail(error.take().sentence);
    for (const PathName &row : path_names) {
        bool chosen = std::find(wanted.begin(), wanted.end(), row.name) != wanted.end();
        report.push_back(
            {{{"name", std::string(row.name)}, {"sentence", std::string(row.sentence)}, {"chosen", chosen}}});
        bool over_network = std::string_view(row.name) == "tcp",
             copies = installation && chosen && std::string_view(row.name) == "shm";
        std::string why;
        std::vector<Copies> learned;
        if (copies) learned = learn_copies(*installation, why);
        if (over_network) report.back().members.push_back({"addresses", addresses});
        if (copies) report.back().members.push_back({"copies", copies_as_json(learned)});
        if (!json) fmt::print("{:<5} {:<4} {}\n", row.name, chosen ? "used" : "off", row.sentence);
        if (!json && copies) print_copies(learned, why);
        if (!json && over_network) print_addresses(addresses);
    }
    if (json) fmt::print("{}", json_text(report));
    return 0;
}

// Makes a team as the user has described it, on hosts like this one. Sets the costs of the network between
// these hosts.
Crew imagine_crew(const InfoOptions &asked, const Settings &settings, Costs &costs) {
    Crew crew(asked.ranks, names_path(settings, "shm") ? asked.hosts : asked.ranks);
    crew.most_on_host = (asked.ranks + asked.hosts - 1) / asked.hosts;
    std::vector<Interface> chosen;
    // An error is ignored, because LANYARD_INTERFACES may be meant for other hosts.
    if (Error error = choose_interfaces(settings.interfaces, interfaces(), chosen)) error.discard();
    if (asked.hosts == 1) set_network_of_one_host(costs);
    else set_network(costs, fastest_mbit(chosen));
    return crew;
}

// A time with three digits, or, from 1000 on, without a fraction.
std::string time_in_words(double time_us) {
    bool long_number = time_us >= 999.5;  // {:.3g} would write it with an exponent
    return long_number ? fmt::format("{:.0f}", time_us) : fmt::format("{:.3g}", time_us);
}

// Prints the algorithms that a communicator would use for collective operations. The user has named the
// number of its ranks.
int show_collectives(const InfoOptions &asked) {
    Settings settings;
    if (!settings_now(settings)) return 1;
    Selection selection;
    if (Error error = parse_selection(settings.coll, selection)) return fail(error.take().sentence);
    if (asked.hosts > asked.ranks)
        return fail(fmt::format("{} ranks cannot be on {} hosts; --ranks says how many there are",
                                asked.ranks, asked.hosts),
                    usage_error);
    Crew crew = imagine_crew(asked, settings, selection.costs);
    int on_host = crew.most_on_host, granted = granted_processors(),
        processors = on_host > granted ? granted : 0;
    std::vector<SelectionRow> rows;
    if (Error error = describe_selection(selection, asked.collective, crew, processors, rows))
        return fail(error.take().sentence, usage_error);  // unknown operation
    if (!asked.json) {
        std::string shared = processors ? fmt::format("{} sharing {} processors", on_host, processors)
                                        : "a processor for each";
        std::string network =
            crew.spread() ? fmt::format(", {:.0f} us and {:.2g} ns a byte between {}",
                                        selection.costs.far_message_ns / 1000, selection.costs.far_byte_ns,
                                        crew.most > 1 ? "nodes" : "ranks")
                          : "";
        fmt::print(
            "{} rank{} on {} host{}, {}{}: operation, bytes from which on the algorithm is used, algorithm, "
            "estimated times in us\n",
            asked.ranks, asked.ranks == 1 ? "" : "s", asked.hosts, asked.hosts == 1 ? "" : "s", shared,
            network);
    }
    JsonList report;
    for (const SelectionRow &row : rows) {
        JsonList estimates;
        std::string text;
        for (const SelectionRow::Estimate &each : row.estimates) {
            estimates.push_back({{{"algorithm", each.algorithm}, {"time_us", each.time_us}}});
            text +=
                fmt::format("{}{} {}", text.empty() ? "" : ", ", each.algorithm, time_in_words(each.time_us));
        }
        report.push_back({{{"operation", row.operation},
                           {"from_bytes", row.from_bytes},
                           {"algorithm", row.chosen},
                           {"overridden", row.overridden},
                           {"estimates", estimates}}});
        if (!asked.json)
            fmt::print("{:<15} {:>10}  {:<28} {}\n", row.operation, row.from_bytes,
                       row.chosen + (row.overridden ? " (set)" : ""), text);
    }
    if (asked.json) fmt::print("{}", json_text(report));
    return 0;
}

int show_all(const Installation &installation) {
    fmt::print("Lanyard {}, in {}\n", LANYARD_VERSION, installation.prefix);
    Coverage coverage;
    if (Error error = find_coverage(installation, coverage)) return fail(error.take().sentence);
    size_t implemented = 0;
    for (const Coverage::Function &function : coverage.functions) implemented += function.implemented;
    fmt::print("MPI-5.0: {} of {} functions are implemented (lanyard info --coverage)\n", implemented,
               coverage.functions.size());
    fmt::print(
        "Programs use libmpi_abi.so.1 (the standard's ABI) or libmpi.so.12 (the ABI of MPICH and Intel "
        "MPI)\n");
    fmt::print("{} settings (lanyard info --settings); paths (lanyard info --paths):\n",
               setting_table().size());
    return show_paths(nullptr, false);
}

}  // namespace

int run_info(const Installation &installation, const InfoOptions &chosen) {
    if (chosen.settings) return show_settings(chosen.json);
    if (chosen.coverage || chosen.missing) return show_coverage(installation, chosen.missing, chosen.json);
    if (chosen.paths) return show_paths(&installation, chosen.json);
    if (chosen.collectives) return show_collectives(chosen);
    if (chosen.json) return fail("--json goes with --settings, --coverage, --paths or --coll", usage_error);
    return show_all(installation);
}

}  // namespace lanyard::tools
