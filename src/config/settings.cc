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

// "a, b and c".
std::string enumerate(const Names &names, const char *last) {
    std::string text;
    for (size_t i = 0; i < names.size(); ++i) text += (i == 0 ? "" : i + 1 == names.size() ? std::string(" ") + last + " " : ", ") + names[i];
    return text;
}

// What is wrong with a word that must be one of `known`; "" if it is.
std::string refuse_word(const char *kind, const std::string &word, const Names &known) {
    if (std::find(known.begin(), known.end(), word) != known.end()) return "";
    std::string nearest = nearest_name(word, known);
    return std::string("there is no ") + kind + " \"" + word + "\"" + (nearest.empty() ? "" : ", did you mean " + nearest + "?") + "; ";
}

std::string refuse_choice(const char *kind, const std::string &value, const Names &known) {
    std::string wrong = refuse_word(kind, value, known);
    return wrong.empty() ? wrong : wrong + "it takes " + enumerate(known, "or");
}

std::string refuse_paths(const std::string &value) {
    Names known = names_of(std::span<const PathName>(path_names));
    std::string remedy = "the paths are " + enumerate(known, "and");
    Names words = split_words(value);
    if (std::all_of(words.begin(), words.end(), [](const std::string &word) { return word.empty(); })) return "it names no path; " + remedy;
    for (const std::string &word : words)
        if (std::string wrong = refuse_word("path", word, known); !wrong.empty()) return wrong + remedy;
    return "";
}

std::string refuse_harm(const std::string &value) {
    Harm harm;
    return parse_harm(value, harm);
}

// "" when it is udp, libfabric or libfabric:PROVIDER.
std::string refuse_dgram_io(const std::string &value) {
    constexpr std::string_view fabric = "libfabric";
    std::string_view word = value;
    if (word == "udp" || word == fabric) return "";
    bool named = word.starts_with(fabric) && word.size() > fabric.size() + 1 && word[fabric.size()] == ':';
    bool good = named && std::all_of(word.begin() + fabric.size() + 1, word.end(), [](unsigned char letter) {
        return std::isalnum(letter) || letter == '_' || letter == '-' || letter == ';';
    });
    return good ? "" : "it takes udp, libfabric, or libfabric with a colon and the name of a provider, like libfabric:verbs";
}

std::string refuse_log(const std::string &value) {
    Names levels = names_of(std::span<const LogName>(log_levels)), parts = names_of(std::span<const LogName>(log_parts));
    Names words = split_words(value);
    if (std::string wrong = refuse_word("level", words.front(), levels); !wrong.empty())
        return wrong + "it begins with " + enumerate(levels, "or") + ", and parts may follow after commas";
    for (auto word = words.begin() + 1; word != words.end(); ++word)
        if (std::string wrong = refuse_word("part", *word, parts); !wrong.empty()) return wrong + "the parts are " + enumerate(parts, "and");
    return "";
}

SettingRow text_row(const char *name, SettingLevel level, std::string Settings::*member, std::string sentence,
                    std::string (*refuse)(const std::string &) = nullptr) {
    SettingRow row{name, SettingType::text, level, std::move(sentence), {}, 0, 0, refuse};
    row.text = member;
    return row;
}
SettingRow boolean_row(const char *name, SettingLevel level, bool Settings::*member, const char *sentence) {
    SettingRow row{name, SettingType::boolean, level, sentence, {}, 0, 1, nullptr};
    row.boolean = member;
    return row;
}
SettingRow integer_row(const char *name, SettingLevel level, int64_t Settings::*member, int64_t minimum, int64_t maximum, const char *sentence) {
    SettingRow row{name, SettingType::integer, level, sentence, {}, minimum, maximum, nullptr};
    row.integer = member;
    return row;
}

// "16384", "16k", "2m", "1g".
bool parse_integer(const char *text, int64_t &value) {
    char *end = nullptr;
    long long number = std::strtoll(text, &end, 10);
    if (end == text) return false;
    int shift = *end == 'k' || *end == 'K' ? 10 : *end == 'm' || *end == 'M' ? 20 : *end == 'g' || *end == 'G' ? 30 : 0;
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

// "" when it is a range of ports, or nothing.
std::string refuse_port_range(const std::string &value) {
    size_t dash = value.find('-');
    int64_t least = 0, most = 0;
    bool good = dash != std::string::npos && parse_integer(value.substr(0, dash).c_str(), least) &&
                parse_integer(value.substr(dash + 1).c_str(), most) && least >= 1 && least <= most && most <= 65535;
    return good || value.empty() ? "" : "it takes two ports from 1 to 65535 with a dash between them, like 5000-5100";
}

// Letters to add, drop, change or exchange with their neighbour to come from one word to the other.
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

std::vector<SettingRow> network_rows() {
    using enum SettingLevel;
    return {
        text_row("INTERFACES", user, &Settings::interfaces,
                 "the network interfaces that may be used, by name, address or network (eth0,10.1.0.0/16); all that are up if empty"),
        text_row("PORT_RANGE", user, &Settings::port_range,
                 "the ports that processes listen at, one for each on a host (5000-5100); any if empty", refuse_port_range),
        integer_row("SOCKET_BUFFER", expert, &Settings::socket_buffer, 0, int64_t{1} << 30,
                    "bytes of the kernel's buffers of each connection; 0 leaves them to the kernel's own tuning"),
        boolean_row("CHECKSUM", user, &Settings::checksum,
                    "check what comes over TCP, frame by frame, with a checksum (CRC32C, by the package libisal2): what a network or a card has "
                    "changed is sent again; to be set alike for all processes")
            .for_all(),
        text_row("DGRAM_IO", user, &Settings::dgram_io,
                 "what carries the packets of the path dgram: udp, libfabric (its first provider that has datagram endpoints), or libfabric with a "
                 "colon and the name of a provider (libfabric:verbs is InfiniBand's unreliable datagram)",
                 refuse_dgram_io)
            .for_all(),
        text_row("DGRAM_HARM", expert, &Settings::dgram_harm,
                 "for tests: the part of the path dgram's packets that is lost, doubled, overtaken or damaged on purpose, in per cent, and how many "
                 "bytes a packet has at most (loss=1,double=1,overtake=1,damage=0.1,longest=1472,seed=7)",
                 refuse_harm),
        text_row("DGRAM_PROGRESS", user, &Settings::dgram_progress,
                 "who answers datagrams and sends lost ones again while the program computes: engine (nobody, until the program calls MPI again), "
                 "thread (a thread that wakes every 10 ms, whatever happens), hybrid (the helper thread, woken when there is something to do) or "
                 "auto (engine where PROGRESS=caller, else hybrid)")
            .among("way to drive datagrams", {"auto", "engine", "thread", "hybrid"}),
        text_row("PROGRESS", user, &Settings::progress,
                 "who moves messages while the program computes: auto (a helper thread where processes are connected by sockets), helper (such a "
                 "thread in any case) or caller (nobody, until the program calls MPI again)")
            .among("way of progress", {"auto", "helper", "caller"}),
        text_row("CONNECT", user, &Settings::connect,
                 "when processes connect: lazy (two of them when the first message goes between them) or all (everybody to everybody in MPI_Init)")
            .among("way to connect", {"lazy", "all"}),
        integer_row("PEER_TIMEOUT", user, &Settings::peer_timeout, 1, 86'400,
                    "seconds after which a process or host that has fallen silent counts as lost; until then its connections are tried again")
            .in("seconds"),
    };
}

std::vector<SettingRow> other_rows() {
    using enum SettingLevel;
    return {
        text_row("PATHS", user, &Settings::paths,
                 "the ways to reach other processes that may be used: " + enumerate(names_of(std::span<const PathName>(path_names)), "and"),
                 refuse_paths)
            .for_all(),
        text_row("LOG", user, &Settings::log,
                 "what is told on standard error: " + enumerate(names_of(std::span<const LogName>(log_levels)), "or") +
                     ", then after commas the parts to tell of, all if there are none: " +
                     enumerate(names_of(std::span<const LogName>(log_parts)), "and"),
                 refuse_log)
            .at_any_time(),
        boolean_row("CHECK", user, &Settings::check,
                    "debug mode: MPI_Finalize, or the last MPI_Session_finalize, tells of messages never received, requests never completed or "
                    "freed, receives never matched, objects never freed, and sends it waits for because no receive has matched them; and a "
                    "message of the program whose sides have different datatypes is an error; so is, where the program uses the "
                    "standard's ABI, what the standard does not allow but MPICH and Open MPI do (MPI_SUM on MPI_CHAR, "
                    "MPI_DATATYPE_NULL for no elements)")
            .at_any_time(),
        boolean_row("PROFILE", user, &Settings::profile,
                    "print at MPI_Finalize what the job spent in MPI: time by call, what was waited for, messages by size, protocol and path; the "
                    "numbers of every rank go into lanyard-profile-<job>.json")
            .for_all(),
        text_row("SHM_DIR", user, &Settings::shm_dir, "the folder, in memory, where the file shared by the processes of a node is made")
            .for_all(),
        integer_row("EAGER_LIMIT", user, &Settings::eager_limit, -1, 262144,
                    "messages up to this many bytes, at most 256k, are sent at once and buffered by the receiver if need be; longer ones wait for "
                    "the receive; -1 leaves it to each path: 64k in shared memory and over a network, 16k elsewhere")
            .at_any_time(),
        integer_row("FIRST_BYTES", expert, &Settings::first_bytes, 0, 262144,
                    "so many bytes of a longer message go over TCP with the request to send it, so that the answer comes while they travel")
            .at_any_time(),
        text_row("WRITE_PROTOCOL", user, &Settings::write_protocol,
                 "whether posted receives are announced to their senders, so that long messages go without being asked for over TCP, and are written "
                 "into place within a node though the receiver computes: on, off, or auto (where it proves to be of use; over TCP those of which "
                 "more is left than FIRST_BYTES)")
            .among("write protocol", {"auto", "on", "off"})
            .at_any_time(),
        integer_row("EAGER_CREDIT", expert, &Settings::eager_credit, -1, int64_t{1} << 30,
                    "bytes that one peer may have sent ahead of the receives before its further messages wait at the sender; -1 is 64 MiB for "
                    "all, 512k to 4 MiB for each")
            .for_all(),
        boolean_row("CMA", user, &Settings::cma,
                    "copy long messages straight from the other process's memory (process_vm_readv) where allowed; collectives: as at the start")
            .at_any_time(),
        text_row("COPIES", expert, &Settings::copies,
                 "how often long messages and contributions to collectives are copied within a node: once (straight from the other process's memory, "
                 "where CMA allows it or MPI_Alloc_mem gave it), twice (through shared buffers, by both sides at the same time), or auto "
                 "(what proves to be faster with the first of them)")
            .among("number of copies", {"auto", "once", "twice"})
            .at_any_time(),
        integer_row("SPIN_US", expert, &Settings::spin_us, -1, 1'000'000,
                    "microseconds a waiting rank polls before it sleeps; -1 chooses by the processors granted and the ranks on the node")
            .in("microseconds")
            .at_any_time(),
        text_row("COLL", expert, &Settings::coll,
                 "algorithms of collective operations instead of those that are estimated to be the fastest: allreduce=ring,bcast:64k=binomial, the "
                 "second from 64 KiB on; lanyard info --coll lists them")
            .for_all(),
        text_row("INITIAL_ERRHANDLER", user, &Settings::initial_errhandler,
                 "the error handler of MPI_COMM_WORLD and MPI_COMM_SELF at first, and of what fails without a communicator outside the world "
                 "model: mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return")
            .among("initial error handler", {"mpi_errors_are_fatal", "mpi_errors_abort", "mpi_errors_return"}),
        text_row("MEMORY_ALLOC_KINDS", user, &Settings::memory_alloc_kinds,
                 "the kinds of memory that the program wants to communicate from in the world model (system,mpi,mpi:alloc_mem); what is not "
                 "supported is left out of what mpi_memory_alloc_kinds tells it"),
    };
}

std::vector<SettingRow> all_rows() {
    std::vector<SettingRow> all = other_rows(), more = network_rows();
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

}  // namespace

const std::vector<SettingRow> &setting_table() {
    static const std::vector<SettingRow> table = all_rows();
    return table;
}

const std::vector<const char *> &other_names() {
    static const std::vector<const char *> names = {
        "LANYARD_JOB",  "LANYARD_SEGMENT_FD", "LANYARD_LOCAL_RANK",   "LANYARD_LOCAL_SIZE", "LANYARD_RANK",         "LANYARD_SIZE",
        "LANYARD_CC",   "LANYARD_CXX",        "LANYARD_BUILD",        "LANYARD_SHARED",     "LANYARD_TEST_SECONDS", "LANYARD_TEST_SEED",
        "LANYARD_HOME", "LANYARD_TEST_ALL",   "LANYARD_TEST_FEW",     "LANYARD_SETUP",
        "LANYARD_LAB",  "LANYARD_LAB_SSH",    "LANYARD_PMI_FD",       "LANYARD_MAXPROCS",
    };
    return names;
}

std::string nearest_name(const std::string &word, const std::vector<std::string> &candidates) {
    std::string best;
    size_t best_distance = SIZE_MAX;
    for (const std::string &candidate : candidates) {
        size_t distance = edit_distance(word, candidate);
        // Of a word of one or two letters every change makes another word, of others at most each third may be a slip.
        bool close = distance <= std::max(word.size(), candidate.size()) / 3;
        if (close && distance < best_distance) {
            best = candidate;
            best_distance = distance;
        }
    }
    return best;
}

std::string set_value(Settings &settings, const SettingRow &row, const char *value) {
    auto refused = [&](const std::string &allowed) { return std::string("LANYARD_") + row.name + "=" + value + " cannot be used: " + allowed; };
    if (row.type == SettingType::text && !*value) settings.*row.text = Settings().*row.text;
    else if (row.type == SettingType::text) {
        std::string wrong = row.refuse ? row.refuse(value) : row.choices.empty() ? "" : refuse_choice(row.kind, value, row.choices);
        if (!wrong.empty()) return refused(wrong);
        settings.*row.text = value;
    }
    if (row.type == SettingType::boolean && !parse_boolean(value, settings.*row.boolean)) return refused("it takes on or off");
    if (row.type == SettingType::integer) {
        int64_t number = 0;
        bool bytes = !*row.unit, good = parse_integer(value, number) && (bytes || !std::strpbrk(value, "kKmMgG"));
        if (!good || number < row.minimum || number > row.maximum)
            return refused(std::string("it takes a whole number of ") + (bytes ? "bytes" : row.unit) + " from " + std::to_string(row.minimum) +
                           " to " + std::to_string(row.maximum) + (bytes ? " (k, m and g may follow)" : ""));
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
           (thread ? "no thread" : "a thread that moves messages") + " beside the program's; leave one of the two out";
}

std::vector<std::string> read_all_settings(char **environment, Settings &settings, std::vector<std::string> &warnings) {
    std::vector<std::string> known, refused;
    for (const SettingRow &row : setting_table()) known.push_back(std::string("LANYARD_") + row.name);
    for (; environment && *environment; ++environment) {
        if (std::strncmp(*environment, "LANYARD_", 8) != 0) continue;
        const char *equals = std::strchr(*environment, '=');
        if (!equals) continue;
        std::string name(static_cast<const char *>(*environment), equals);
        auto row = std::find(known.begin(), known.end(), name);
        if (row != known.end()) {
            if (equals[1] == 0) continue;  // as if it were not set
            std::string wrong = set_value(settings, setting_table()[static_cast<size_t>(row - known.begin())], equals + 1);
            if (!wrong.empty()) refused.push_back(std::move(wrong));
            continue;
        }
        bool other = std::any_of(other_names().begin(), other_names().end(), [&](const char *allowed) { return name == allowed; });
        if (other) continue;
        // The beginning that all share makes no two names alike.
        std::string nearest = nearest_name(name.substr(8), names_of(std::span<const SettingRow>(setting_table())));
        warnings.push_back(name + " is not a setting of Lanyard" + (nearest.empty() ? "" : ", did you mean LANYARD_" + nearest + "?") +
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
