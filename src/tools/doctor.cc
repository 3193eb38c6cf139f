// lanyard doctor: reports what this machine allows and refuses, what Lanyard uses instead, and the remedy.
// The exit code is 1 if there is a problem (see Verdict), and 0 if there are only notes.
// Tested by: tests/command/test_lanyard.py.
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>

#include "tools/commands.h"
#include "tools/finding.h"
#include "tools/json.h"

namespace lanyard::tools {

namespace {

Findings examine_all(const Installation &installation) {
    Settings settings;
    std::vector<std::string> warnings;
    read_all_settings(environ, settings, warnings);  // examine_environment() reports wrong settings
    Findings findings = {
        examine_library(installation),   examine_compiler(installation),  examine_processors(),
        examine_shared_memory(settings), examine_long_messages(settings), examine_datagrams(settings),
        examine_checksums(settings)};
    for (const Findings &more : {examine_others(installation), examine_environment()})
        findings.insert(findings.end(), more.begin(), more.end());
    return findings;
}

const char *word(Verdict verdict) {
    return verdict == Verdict::good ? "good" : verdict == Verdict::note ? "note" : "problem";
}

void print_text(const Installation &installation, const Findings &findings) {
    utsname machine{};
    uname(&machine);
    fmt::print("Lanyard {} in {}, on {} (Linux {}, {})\n\n", LANYARD_VERSION, installation.prefix,
               machine.nodename, machine.release, machine.machine);
    for (const Finding &finding : findings) {
        fmt::print("{:<8} {}: {}\n", word(finding.verdict), finding.subject, finding.sentence);
        if (!finding.instead.empty()) fmt::print("{:<8} Instead: {}\n", "", finding.instead);
        if (!finding.remedy.empty()) fmt::print("{:<8} Remedy: {}\n", "", finding.remedy);
    }
}

void print_json(const Findings &findings) {
    JsonList list;
    for (const Finding &finding : findings)
        list.push_back({{{"verdict", std::string(word(finding.verdict))},
                         {"subject", finding.subject},
                         {"sentence", finding.sentence},
                         {"instead", finding.instead},
                         {"remedy", finding.remedy}}});
    fmt::print("{}", json_text(list));
}

}  // namespace

int run_doctor(const Installation &installation, bool json) {
    Findings findings = examine_all(installation);
    if (json) print_json(findings);
    else print_text(installation, findings);
    return std::any_of(findings.begin(), findings.end(),
                       [](const Finding &one) { return one.verdict == Verdict::problem; })
               ? 1
               : 0;
}

}  // namespace lanyard::tools
