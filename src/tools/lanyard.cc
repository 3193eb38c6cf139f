// The command `lanyard`, which reports on the library, on the machine and on the speed of both. Each
// subcommand has its own file. This file reads the command line, prints --help and the manual page from the
// same text, and calls the subcommand.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <exception>

#include "base/no_memory.h"
#include "config/settings.h"
#include "launch/plan.h"
#include "tools/command_line.h"
#include "tools/commands.h"

namespace {

using namespace lanyard;
using namespace lanyard::tools;

constexpr const char *about =
    "Reports on this MPI library and the machine on which it runs. If something is slow or does not start, "
    "run 'lanyard doctor' first.";

// Names of subcommands that a later version will have. For these the message says so, and suggests no similar
// name.
constexpr const char *later[] = {"why", "trace"};

int refuse_subcommand(const std::string &word, const std::vector<std::string> &known) {
    if (std::find(std::begin(later), std::end(later), word) != std::end(later)) {
        std::fprintf(stderr,
                     "lanyard: '%s' is not part of version %s yet. What ranks wait for is printed by mpirun "
                     "on Ctrl-\\ and by --timeout.\n",
                     word.c_str(), LANYARD_VERSION);
        return usage_error;
    }
    std::string nearest = nearest_name(word, known);
    std::string advice =
        nearest.empty() ? "'lanyard --help' lists the commands" : "did you mean '" + nearest + "'?";
    std::fprintf(stderr, "lanyard: there is no command '%s'; %s\n", word.c_str(), advice.c_str());
    return usage_error;
}

int refuse_option(const CLI::App &app, const std::vector<std::string> &words) {
    std::string nearest = nearest_option(app, words.front());
    std::string command = (app.get_parent() ? "lanyard " : "") + app.get_display_name();
    std::string advice =
        nearest.empty() ? "'" + command + " --help' lists the options" : "did you mean '" + nearest + "'?";
    std::fprintf(stderr, "lanyard: '%s' does not go with this command; %s\n", words.front().c_str(),
                 advice.c_str());
    return usage_error;
}

// Returns `text` with the characters escaped that have a meaning in troff.
std::string plain(const std::string &text) {
    std::string safe;
    for (char letter : text) {
        if (letter == '\\' || letter == '-') safe += '\\';
        if (safe.empty() && (letter == '.' || letter == '\'')) safe += "\\&";
        safe += letter;
    }
    return safe;
}

void add_options(const CLI::App &app, std::string &page) {
    for (const CLI::Option *option : app.get_options()) {
        if (option->get_group().empty() || option->get_description().empty()) continue;
        std::string values = option->get_type_size() != 0 ? " " + option->get_type_name() : "";
        page += ".TP\n.B " + plain(option->get_name(false, true)) + plain(values) + "\n" +
                plain(option->get_description()) + "\n";
    }
}

// Makes the manual page, in the language of man(7). It is made from the text of --help, so the two never
// differ.
std::string manual_page(const CLI::App &app, const std::string &version) {
    const std::string &name = app.get_name();
    std::string page = ".TH " + name + " 1 \"\" \"Lanyard " + version + "\"\n.SH NAME\n" + name +
                       " \\- report on Lanyard and this machine\n";
    page += ".SH SYNOPSIS\n";
    for (const CLI::App *sub : app.get_subcommands({}))
        page += ".B " + name + " " + sub->get_name() + "\n[OPTIONS]\n.br\n";
    page += ".SH DESCRIPTION\n" + plain(app.get_description()) + "\n.SH OPTIONS\n";
    add_options(app, page);
    for (const CLI::App *sub : app.get_subcommands({})) {
        page += ".SH " + name + " " + sub->get_name() + "\n" + plain(sub->get_description()) + "\n";
        add_options(*sub, page);
    }
    return page + ".SH SEE ALSO\n.BR mpirun (1),\n.BR mpicc (1)\n";
}

struct Asked {
    bool manual = false;
    InfoOptions info;
    bool doctor_json = false;
    std::string ranks = "2";
};

void add_commands(CLI::App &app, Asked &asked) {
    const std::string version = std::string("lanyard ") + LANYARD_VERSION;
    app.set_version_flag("-V,--version", version);
    app.add_flag("--manual", asked.manual, "")->group("");
    app.allow_extras();

    CLI::App *info = app.add_subcommand(
        "info", "Reports what this library has: functions, settings, paths, algorithms.");
    info->allow_extras();
    info->add_flag("--settings", asked.info.settings,
                   "every setting with its default, and the value that the environment sets instead");
    info->add_flag("--coverage", asked.info.coverage,
                   "how many functions of MPI-5.0 are implemented, by chapter");
    info->add_flag("--missing", asked.info.missing,
                   "the same, with the name of every missing function");
    info->add_flag(
        "--paths", asked.info.paths,
        "the paths between processes, and the fastest way to copy long messages on this machine");
    CLI::Option *coll = info->add_option("--coll", asked.info.collective,
                                         "the algorithms of a collective operation by size, with the "
                                         "estimates behind the choice; of all operations if none is named")
                            ->expected(0, 1)
                            ->type_name("[OPERATION]");
    info->add_option("--ranks", asked.info.ranks, "for --coll: the number of ranks")
        ->type_name("N")->check(CLI::Range(1, 1'000'000))->capture_default_str()->needs(coll);
    info->add_option("--hosts", asked.info.hosts, "for --coll: the number of hosts like this one")
        ->type_name("N")->check(CLI::Range(1, 1'000'000))->capture_default_str()->needs(coll);
    info->add_flag("--json", asked.info.json, "as JSON");

    CLI::App *doctor = app.add_subcommand(
        "doctor", "Reports what this machine allows and refuses, what is used instead, and the remedy.");
    doctor->allow_extras();
    doctor->add_flag("--json", asked.doctor_json, "as JSON");

    CLI::App *bench = app.add_subcommand(
        "bench",
        "Runs a benchmark. 'lanyard bench' lists the benchmarks, and 'lanyard bench NAME --help' prints the "
        "options of one. '--sweep eager-limit' after NAME runs it with several values of a setting; 'lanyard "
        "bench --sweep' lists these settings.");
    bench->add_option("-n", asked.ranks, "number of ranks, before NAME (default: 2)")->type_name("N");
    bench->prefix_command();
    bench->footer([] { return "NAME is one of:\n" + list_benchmarks(find_installation()); });

    for (CLI::App *command : app.get_subcommands({})) command->set_version_flag("-V,--version", version);
}

// Called if no subcommand was given. Reports an unknown word, or prints --help if there are no words.
int run_nothing(const CLI::App &app) {
    std::vector<std::string> rest = app.remaining(), known;
    for (const CLI::App *command : app.get_subcommands({})) known.push_back(command->get_name());
    if (!rest.empty())
        return rest.front().front() == '-' ? refuse_option(app, rest)
                                           : refuse_subcommand(rest.front(), known);
    std::fputs(app.help().c_str(), stdout);
    return 0;
}

}  // namespace

int main(int count, char **words) try {
    lanyard::end_where_new_fails("lanyard", 1);
    CLI::App app(about, "lanyard");
    Asked asked;
    add_commands(app, asked);
    spell_out_version(count, words);
    try {
        app.parse(count, words);
    } catch (const CLI::Success &request) {  // --help, --version
        return app.exit(request);
    } catch (const CLI::ParseError &error) {
        std::fprintf(stderr, "lanyard: %s\n", error.what());
        return usage_error;
    }
    if (asked.manual) {
        std::fputs(manual_page(app, LANYARD_VERSION).c_str(), stdout);
        return 0;
    }
    if (app.get_subcommands().empty()) return run_nothing(app);
    const CLI::App &chosen = *app.get_subcommands().front();
    std::vector<std::string> rest = chosen.remaining();
    if (!rest.empty() && chosen.get_name() != "bench") return refuse_option(chosen, rest);
    if (std::vector<std::string> outer = app.remaining(); !outer.empty()) return refuse_option(app, outer);
    Installation installation = find_installation();
    if (chosen.get_name() == "info") {
        asked.info.collectives = chosen.count("--coll") > 0;
        return run_info(installation, asked.info);
    }
    if (chosen.get_name() == "doctor") return run_doctor(installation, asked.doctor_json);
    int ranks = 0;
    auto [end, trouble] = std::from_chars(asked.ranks.data(), asked.ranks.data() + asked.ranks.size(), ranks);
    // These limits are the same as those of mpirun.
    if (trouble != std::errc{} || *end || ranks < 1 || ranks > launch::most_ranks) {
        std::fprintf(stderr, "lanyard: -n takes a number of ranks from 1 to %d, not \"%s\"\n",
                     launch::most_ranks, asked.ranks.c_str());
        return usage_error;
    }
    return run_bench(installation, ranks, std::move(rest));
} catch (const std::exception &error) {
    std::fprintf(stderr, "lanyard: %s\n", error.what());
    return 1;
}
