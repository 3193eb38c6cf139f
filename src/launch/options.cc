// Parses the command line of mpirun, and makes the texts of help and manual page from the same table. See
// options.h.
#include "launch/options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/error.h"
#include "config/settings.h"
#include "launch/option_table.h"

namespace lanyard::launch {

namespace {

std::vector<std::string> split(const std::string &text, char separator) {
    std::vector<std::string> parts;
    for (size_t at = 0; at <= text.size();) {
        size_t end = std::min(text.find(separator, at), text.size());
        parts.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return parts;
}

const OptionRow *find_option(const std::string &name) {
    for (const OptionRow &row : option_table)
        for (const std::string &known : split(row.names, ' '))
            if (known == name) return &row;
    return nullptr;
}

// True for a word that names an option, and for "--", which ends the options.
bool is_option(const std::string &word) {
    size_t name = word.find_first_not_of('-');
    return word == "--" || (name != 0 && name != std::string::npos && find_option(word.substr(name)));
}

std::string nearest_option(const std::string &name) {
    std::vector<std::string> known;
    for (const OptionRow &row : option_table)
        for (const std::string &one : split(row.names, ' '))
            if (row.sentence[0]) known.push_back(one);
    return nearest_name(name, known);
}

template <class Number>
bool read_number(const std::string &text, Number &number) {
    auto [end, trouble] = std::from_chars(text.data(), text.data() + text.size(), number);
    return !text.empty() && trouble == std::errc{} && end == text.data() + text.size();
}

std::string own_host_name() {
    char own[256] = "";
    gethostname(own, sizeof own - 1);
    return own;
}

bool read_file(const std::string &path, std::string &text) {
    std::ifstream file(path, std::ios::binary);
    std::error_code ignored;
    if (!file || std::filesystem::is_directory(path, ignored)) return false;
    text.assign(std::istreambuf_iterator<char>(file), {});
    return !file.bad();
}

bool is_variable_name(const std::string &name) {
    return !name.empty() && name.find_first_of(std::string("= \0", 3)) == std::string::npos;
}

// Reads the words of the command line once, in order. Only the first error is reported.
class Parser {
public:
    explicit Parser(const std::vector<std::string> &words) : words_(words) {}
    Parsed parse();

private:
    void option(const std::string &word);
    void apply(const OptionRow &row, const std::string &word);
    void program();
    void whole_plan();
    bool argument(const std::string &of, const OptionRow &row, std::string &value);
    void assign(Assignments &variables, const std::string &of, const OptionRow &row);
    void set_exported(const std::string &value);
    void set_name(const std::string &of, const std::string &value, std::string &name);
    void set_ranks(const std::string &of, const std::string &value);
    void set_hosts(const std::string &of, const std::string &value, bool in_file);
    void set_mapping(const std::string &value);
    void set_count(const std::string &of, const std::string &value, const char *what, int &count);
    void place();
    void set_stdin(const std::string &value);
    void set_binding(const std::string &value);
    void set_timeout(const std::string &of, const std::string &value);
    void set_errhandler(const std::string &of, const std::string &value);
    void refuse(std::string sentence) {
        if (parsed_.request != Request::refused) parsed_.trouble = std::move(sentence);
        parsed_.request = Request::refused;
    }

    // Adds a remark. A remark that applies to several programs is added once.
    void note(const std::string &sentence) {
        std::vector<std::string> &notes = parsed_.plan.notes;
        if (std::find(notes.begin(), notes.end(), sentence) == notes.end()) notes.push_back(sentence);
    }

    const std::vector<std::string> &words_;
    size_t next_ = 0;
    std::optional<std::string> attached_;  // the VALUE of --name=VALUE, until the option has used it
    HostList hosts_;
    std::string hosts_of_;  // the option that named the hosts
    Mapping mapping_;
    bool ranks_given_ = false;
    bool program_due_ = true;  // a program must still follow
    Program current_;
    Parsed parsed_;
};

Parsed Parser::parse() {
    while (next_ < words_.size() && parsed_.request == Request::run) {
        const std::string word = words_[next_++];
        if (word.size() > 1 && word[0] == '-' && word != "--") {
            option(word);
            continue;
        }
        if (word != "--") --next_;
        program();
    }
    if (parsed_.request == Request::run) whole_plan();
    return parsed_;
}

void Parser::option(const std::string &word) {
    program_due_ = true;
    std::string name = word.substr(word[1] == '-' ? 2 : 1);
    attached_.reset();
    size_t equals = name.find('=');
    if (equals != std::string::npos) {
        attached_ = name.substr(equals + 1);
        name.resize(equals);
    }
    const OptionRow *row = find_option(name);
    if (!row) {
        std::string near = nearest_option(name);
        std::string hint = near.empty()
                               ? "see mpirun --help"
                               : fmt::format("did you mean {}{}?", near.size() > 1 ? "--" : "-", near);
        return refuse(fmt::format("there is no option {}; {}", word.substr(0, word.find('=')), hint));
    }
    apply(*row, word);
    if (attached_ && parsed_.request == Request::run)
        refuse(fmt::format("{} takes no value", word.substr(0, word.find('='))));
}

bool Parser::argument(const std::string &of, const OptionRow &row, std::string &value) {
    if (attached_) {
        value = *attached_;
        attached_.reset();
        return true;
    }
    if (next_ >= words_.size()) {
        refuse(fmt::format("{} needs {} after it", of, row.arguments));
        return false;
    }
    value = words_[next_++];
    return true;
}

void Parser::apply(const OptionRow &row, const std::string &word) {
    Plan &plan = parsed_.plan;
    if (row.option == Option::everyone) return assign(plan.environment, word, row);
    if (row.option == Option::own) return assign(current_.own, word, row);
    std::string value;
    if (row.arguments[0] && !argument(word, row, value)) return;
    switch (row.option) {
        case Option::ranks: return set_ranks(word, value);
        case Option::exported: return set_exported(value);
        case Option::folder: current_.folder = value; break;
        case Option::initial_errhandler: return set_errhandler(word, value);
        case Option::alloc_kinds: current_.own.emplace_back("LANYARD_MEMORY_ALLOC_KINDS", value); break;
        case Option::tag: plan.tag_output = true; break;
        case Option::output: return set_name(word, value, plan.output_folder);
        case Option::out_pattern: return set_name(word, value, plan.out_pattern);
        case Option::err_pattern: return set_name(word, value, plan.err_pattern);
        case Option::timeout: return set_timeout(word, value);
        case Option::profile: plan.environment.emplace_back("LANYARD_PROFILE", "on"); break;
        case Option::standard_input: return set_stdin(value);
        case Option::bind: return set_binding(value);
        case Option::hosts: return set_hosts(word, value, false);
        case Option::host_file: return set_hosts(word, value, true);
        case Option::ranks_per_host: return set_count(word, value, "ranks", mapping_.ranks_per_host);
        case Option::map_by: return set_mapping(value);
        case Option::by_node: mapping_.by_node = true; break;
        case Option::remote_shell: return set_name(word, value, plan.remote_shell);
        case Option::prefix: return set_name(word, value, plan.remote_prefix);
        case Option::fan_out: return set_count(word, value, "hosts", plan.fan_out);
        case Option::foreign_settings:
            refuse(
                fmt::format("{} is an option of Open MPI; settings are variables LANYARD_NAME=VALUE here, "
                            "and lanyard info --settings lists them",
                            word.substr(0, word.find('='))));
            break;
        case Option::help: parsed_.request = Request::help; break;
        case Option::version: parsed_.request = Request::version; break;
        case Option::manual: parsed_.request = Request::manual; break;
        case Option::as_always: case Option::everyone: case Option::own: break;
    }
}

void Parser::assign(Assignments &variables, const std::string &of, const OptionRow &row) {
    std::string name, value;
    if (!argument(of, row, name)) return;
    size_t equals = name.find('=');
    if (equals != std::string::npos) {
        value = name.substr(equals + 1);
        name.resize(equals);
    } else if (!argument(of, row, value)) {
        return;
    } else if (is_option(value)) {
        return refuse(
            fmt::format("{0} {1} would have the value \"{2}\", which is an option; write {0} {1}=VALUE", of,
                        name, value));
    }
    if (!is_variable_name(name))
        return refuse(fmt::format("{} needs the name of a variable, not \"{}\"", of, name));
    variables.emplace_back(name, value);
}

void Parser::set_exported(const std::string &value) {
    for (const std::string &one :
         value.find('=') == std::string::npos ? split(value, ',') : std::vector<std::string>{value}) {
        size_t equals = one.find('=');
        std::string name = one.substr(0, equals);
        if (!is_variable_name(name))
            return refuse(fmt::format("-x needs the name of a variable, not \"{}\"", one));
        const char *inherited = getenv(name.c_str());
        if (equals != std::string::npos) current_.own.emplace_back(name, one.substr(equals + 1));
        else if (inherited) current_.own.emplace_back(name, inherited);
        else
            note(fmt::format("-x {0}: {0} is not set, here or for the ranks; -x {0}=VALUE would set it",
                             name));
    }
}

// Sets a name that applies to the whole job. If the option is given again with another name, for example for
// a program behind ':', this is an error: the last name must not silently replace the first.
void Parser::set_name(const std::string &of, const std::string &value, std::string &name) {
    if (!name.empty() && name != value)
        return refuse(fmt::format(
            "{} was given twice, with {} and with {}; it is for all programs of the job, so give it once", of,
            name, value));
    name = value;
}

void Parser::set_ranks(const std::string &of, const std::string &value) {
    ranks_given_ = true;
    if (!read_number(value, current_.ranks) || current_.ranks < 1 || current_.ranks > most_ranks)
        refuse(fmt::format("{} takes a number of ranks from 1 to {}, not \"{}\"", of, most_ranks, value));
}

void Parser::set_hosts(const std::string &of, const std::string &value, bool in_file) {
    if (!hosts_of_.empty())
        return refuse(fmt::format("{} and {} both say where to run; give one of them, once", hosts_of_, of));
    hosts_of_ = of;
    if (!in_file) {
        std::string wrong = parse_host_list(value, of, hosts_);
        return wrong.empty() ? void() : refuse(wrong);
    }
    std::string text;
    errno = 0;
    if (!read_file(value, text))
        return refuse(fmt::format("{} {}: the host file cannot be read: {}", of, value,
                                  system_text(errno ? errno : EISDIR)));
    if (std::string wrong = parse_hostfile(text, value, hosts_); !wrong.empty()) refuse(wrong);
}

void Parser::set_mapping(const std::string &value) {
    std::vector<std::string> parts = split(value, ':');
    if (value == "slot" || value == "node") mapping_.by_node = value == "node";
    else if (parts.size() == 3 && parts[0] == "ppr" && parts[2] == "node") {
        mapping_.strict = true;
        set_count("--map-by", parts[1], "ranks", mapping_.ranks_per_host);
    } else refuse(fmt::format("--map-by takes slot, node or ppr:N:node, not \"{}\"", value));
}

void Parser::set_count(const std::string &of, const std::string &value, const char *what, int &count) {
    if (!read_number(value, count) || count < 1 || count > most_ranks)
        refuse(fmt::format("{} takes a number of {} from 1 to {}, not \"{}\"", of, what, most_ranks, value));
}

void Parser::set_stdin(const std::string &value) {
    int rank = -1;
    if (value == "none") parsed_.plan.stdin_rank.reset();
    else if (read_number(value, rank) && rank >= 0) parsed_.plan.stdin_rank = rank;
    else refuse(fmt::format("--stdin takes one rank or none, not \"{}\"", value));
}

void Parser::set_binding(const std::string &value) {
    if (value == "none") parsed_.plan.binding = Binding::none;
    else if (value == "core") parsed_.plan.binding = Binding::core;
    else if (value == "auto") parsed_.plan.binding = Binding::automatic;
    else refuse(fmt::format("--bind-to takes none, core or auto, not \"{}\"", value));
}

void Parser::set_timeout(const std::string &of, const std::string &value) {
    double &seconds = parsed_.plan.timeout_s;
    if (!read_number(value, seconds) || !std::isfinite(seconds) || seconds <= 0 || seconds > 1e9)
        refuse(fmt::format("{} takes a number of seconds above 0, not \"{}\"", of, value));
}

// Sets the initial error handler, which is a setting. The row of the setting checks the value. Its sentence
// about a wrong value names the setting, so the name is replaced by that of the option.
void Parser::set_errhandler(const std::string &of, const std::string &value) {
    current_.own.emplace_back("LANYARD_INITIAL_ERRHANDLER", value);
    Settings scratch;
    for (const SettingRow &row : setting_table()) {
        if (row.type != SettingType::text || row.text != &Settings::initial_errhandler) continue;
        std::string wrong = set_value(scratch, row, value.c_str());
        if (!wrong.empty()) refuse(of.substr(0, of.find('=')) + " " + wrong.substr(wrong.find('=') + 1));
    }
}

// Reads a program and its arguments, up to ':' or the end. The next program inherits nothing from this one.
void Parser::program() {
    while (next_ < words_.size() && words_[next_] != ":") current_.words.push_back(words_[next_++]);
    if (current_.words.empty())
        return refuse("a program is missing before ':' or at the end; see mpirun --help");
    bool more = next_ < words_.size();
    parsed_.plan.programs.push_back(current_);
    current_ = Program{};
    program_due_ = more;
    if (more) ++next_;
}

void Parser::whole_plan() {
    Plan &plan = parsed_.plan;
    const char *limit = getenv("MPIEXEC_TIMEOUT");
    if (plan.timeout_s == 0 && limit && limit[0]) set_timeout("MPIEXEC_TIMEOUT", limit);
    if (plan.programs.empty())
        return refuse("no program was named; write mpirun -n N PROGRAM, or see mpirun --help");
    if (program_due_) return refuse("a program is missing after the last ':'; see mpirun --help");
    name_this_host(hosts_, own_host_name());
    bool whole_hosts = mapping_.ranks_per_host && !ranks_given_ && plan.programs.size() == 1;
    long on_all =
        static_cast<long>(mapping_.ranks_per_host) * static_cast<long>(std::max<size_t>(hosts_.size(), 1));
    if (whole_hosts) plan.programs[0].ranks = static_cast<int>(std::min<long>(on_all, most_ranks + 1));
    int ranks = plan.ranks();
    if (ranks > most_ranks)
        return refuse(fmt::format("{} ranks are more than the {} of one job", ranks, most_ranks));
    if (plan.stdin_rank && *plan.stdin_rank >= ranks)
        return refuse(fmt::format("--stdin {}: the job has ranks 0 to {} only", *plan.stdin_rank, ranks - 1));
    if (!plan.output_folder.empty() && !(plan.out_pattern + plan.err_pattern).empty())
        return refuse(
            "--output and -outfile-pattern or -errfile-pattern say different things about the same files; "
            "use one of them");
    place();
}

// Decides where each rank runs. If no hosts are named, all ranks run on this machine.
void Parser::place() {
    std::string own = own_host_name();
    Placement &placement = parsed_.plan.placement;
    int ranks = parsed_.plan.ranks();
    if (hosts_.empty() && mapping_.ranks_per_host && mapping_.ranks_per_host < ranks)
        return refuse(
            fmt::format("{} ranks at {} per host need more hosts than this one; name them with --host or -f, "
                        "or leave the option out",
                        ranks, mapping_.ranks_per_host));
    if (hosts_.empty()) hosts_.push_back({own, ranks, 0});
    if (std::string wrong = place_ranks(hosts_, mapping_, ranks, placement); !wrong.empty())
        return refuse(wrong);
    for (size_t node = 0; node < placement.hosts.size(); ++node)
        if (placement.hosts[node] == own) placement.own = static_cast<int>(node);
}

std::string spelled(const OptionRow &row) {
    std::string text;
    for (const std::string &name : split(row.names, ' '))
        text += fmt::format("{}{}{}", text.empty() ? "" : ", ", name.size() > 2 ? "--" : "-", name);
    return row.arguments[0] ? text + " " + row.arguments : text;
}

std::string wrapped(std::string_view text, size_t indent, size_t width = 100) {
    std::string out;
    std::string line(indent, ' ');
    for (const std::string &word : split(std::string(text), ' ')) {
        if (line.size() + word.size() + 1 > width) {
            out += line + "\n";
            line.assign(indent, ' ');
        }
        line += (line.size() > indent ? " " : "") + word;
    }
    return out + line + "\n";
}

std::string quoted_for_man(std::string_view text) {
    std::string out;
    for (char c : text) out += c == '\\' ? "\\e" : c == '-' ? "\\-" : c == '\'' ? "\\(aq" : std::string(1, c);
    return out;
}

}  // namespace

Parsed parse_options(const std::vector<std::string> &words) { return Parser(words).parse(); }

std::string help_text() {
    std::string text = fmt::format("Usage: {}\n\n", usage_line);
    for (const char *paragraph : help_paragraphs) text += wrapped(paragraph, 0) + "\n";
    text += "Options (one dash or two, as you like):\n";
    for (const OptionRow &row : option_table)
        if (row.sentence[0]) text += fmt::format("  {}\n{}", spelled(row), wrapped(row.sentence, 6));
    text += "\nExit codes:\n";
    for (const Outcome &code : exit_codes) text += fmt::format("  {:<6} {}\n", code.code, code.sentence);
    text += "\nEnvironment (lanyard info --settings lists the settings of the library):\n";
    for (const Outcome &variable : help_variables)
        text += fmt::format("  {}\n{}", variable.code, wrapped(variable.sentence, 6));
    return text;
}

std::string manual_page() {
    std::string page = fmt::format(".TH MPIRUN 1 \"\" \"Lanyard {}\"\n.SH NAME\nmpirun, mpiexec \\- {}\n",
                                   LANYARD_VERSION, quoted_for_man(summary));
    page += fmt::format(".SH SYNOPSIS\n{}\n.SH DESCRIPTION\n", quoted_for_man(usage_line));
    for (const char *paragraph : help_paragraphs) page += quoted_for_man(paragraph) + "\n.PP\n";
    page += ".SH OPTIONS\nOne dash or two mean the same.\n";
    auto entry = [&](const std::string &head, const char *sentence) {
        page += fmt::format(".TP\n.B {}\n{}\n", quoted_for_man(head), quoted_for_man(sentence));
    };
    for (const OptionRow &row : option_table)
        if (row.sentence[0]) entry(spelled(row), row.sentence);
    page += ".SH EXIT STATUS\n";
    for (const Outcome &code : exit_codes) entry(code.code, code.sentence);
    page += ".SH ENVIRONMENT\n";
    for (const Outcome &variable : help_variables) entry(variable.code, variable.sentence);
    return page;
}

}  // namespace lanyard::launch
