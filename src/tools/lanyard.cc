// The command `lanyard`: what users ask about the library, the machine and the speed of both. Subcommands stand in
// their own files; this one parses and chooses.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>

#include "config/settings.h"
#include "tools/commands.h"

namespace {

using namespace lanyard;
using namespace lanyard::tools;

constexpr int usage_error = 2;
constexpr const char *about =
    "Tells about this MPI library and the machine it runs on: 'lanyard doctor' first, when something is slow or does not start.";

// Words of subcommands that a later version will have, so that a newcomer is told so instead of offered a near name.
constexpr const char *later[] = {"why", "trace"};

int refuse_subcommand(const std::string &word, const std::vector<std::string> &known) {
    if (std::find(std::begin(later), std::end(later), word) != std::end(later)) {
        std::fprintf(stderr, "lanyard: '%s' is not part of version %s yet. What ranks wait for is printed by mpirun on Ctrl-\\ and by --timeout.\n",
                     word.c_str(), LANYARD_VERSION);
        return usage_error;
    }
    std::string nearest = nearest_name(word, known);
    std::string advice = nearest.empty() ? "'lanyard --help' lists the commands" : "did you mean '" + nearest + "'?";
    std::fprintf(stderr, "lanyard: there is no command '%s'; %s\n", word.c_str(), advice.c_str());
    return usage_error;
}

int refuse_option(const CLI::App &app, const std::vector<std::string> &words) {
    std::vector<std::string> known;
    for (const CLI::Option *option : app.get_options())
        for (const std::string &name : option->get_lnames()) known.push_back("--" + name);
    std::string nearest = nearest_name(words.front(), known);
    std::string command = (app.get_parent() ? "lanyard " : "") + app.get_display_name();
    std::string advice = nearest.empty() ? "'" + command + " --help' lists the options" : "did you mean '" + nearest + "'?";
    std::fprintf(stderr, "lanyard: '%s' does not go with this command; %s\n", words.front().c_str(), advice.c_str());
    return usage_error;
}

}  // namespace

int main(int count, char **words) {
    Place place = find_place();
    CLI::App app(about, "lanyard");
    static char version_option[] = "--version";  // "-version" is what mpirun takes too
    for (int i = 1; i < count; ++i)
        if (std::strcmp(words[i], "-version") == 0) words[i] = version_option;
    const std::string version = std::string("lanyard ") + LANYARD_VERSION;
    app.set_version_flag("-V,--version", version);
    bool manual = false;
    app.add_flag("--manual", manual, "")->group("");
    app.allow_extras();
    std::map<std::string, Command> commands = {
        {"info", add_info(app, place)}, {"doctor", add_doctor(app, place)}, {"bench", add_bench(app, place)}};

    for (CLI::App *sub : app.get_subcommands({})) sub->set_version_flag("-V,--version", version);

    try {
        app.parse(count, words);
    } catch (const CLI::Success &request) {  // --help, --version
        return app.exit(request);
    } catch (const CLI::ParseError &error) {
        std::fprintf(stderr, "lanyard: %s\n", error.what());
        return usage_error;
    }
    if (manual) {
        std::fputs(manual_page(app, LANYARD_VERSION).c_str(), stdout);
        return 0;
    }
    std::vector<std::string> known;
    for (const auto &[name, command] : commands) known.push_back(name);
    std::vector<CLI::App *> chosen = app.get_subcommands();
    if (chosen.empty()) {
        std::vector<std::string> rest = app.remaining();
        if (!rest.empty()) return rest.front().front() == '-' ? refuse_option(app, rest) : refuse_subcommand(rest.front(), known);
        std::fputs(app.help().c_str(), stdout);
        return 0;
    }
    CLI::App &sub = *chosen.front();
    std::vector<std::string> rest = sub.remaining();
    if (!rest.empty() && sub.get_name() != "bench") return refuse_option(sub, rest);
    if (std::vector<std::string> outer = app.remaining(); !outer.empty()) return refuse_option(app, outer);
    return commands.at(sub.get_name())();
}
