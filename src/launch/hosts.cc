// Parses host files and host lists, and maps ranks to hosts. See hosts.h.
#include "launch/hosts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace lanyard::launch {

namespace {

constexpr int most_slots = 65536;
constexpr size_t most_quoted = 100;
constexpr std::string_view white = " \t\r";
constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

bool read_count(std::string_view text, int &count) {
    auto [end, trouble] = std::from_chars(text.data(), text.data() + text.size(), count);
    return !text.empty() && trouble == std::errc{} && end == text.data() + text.size() && count >= 1 &&
           count <= most_slots;
}

// True if a name may be passed to a remote shell. It must not look like an option, nor contain a character
// with a special meaning for a shell or a terminal.
bool is_host_name(std::string_view name) {
    constexpr std::string_view marks = "._-:%@";
    auto allowed = [&](unsigned char c) {
        return (c < 128 && isalnum(c)) || marks.find(static_cast<char>(c)) != marks.npos;
    };
    if (name.empty() || name.size() > 255 || name[0] == '-' || name[0] == '@' || name.back() == '@')
        return false;
    return std::all_of(name.begin(), name.end(), allowed);
}

// A quotation from a host file for a sentence. The file may contain any bytes, so control characters are
// replaced and long texts are cut.
std::string quoted(std::string_view text) {
    std::string out(text.substr(0, most_quoted));
    std::replace_if(out.begin(), out.end(), [](unsigned char c) { return c < ' ' || c == 127; }, '?');
    return text.size() > most_quoted ? out + "..." : out;
}

std::string not_a_count(std::string_view what, std::string_view text) {
    bool digits =
        !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return isdigit(c); });
    if (digits) return fmt::format("{}{} is not from 1 to {}", what, quoted(text), most_slots);
    return text.empty() ? fmt::format("{} needs a number after it", what)
                        : fmt::format("{}{} is not a number", what, quoted(text));
}

// Parses HOST, HOST:SLOTS, [ADDRESS] or [ADDRESS]:SLOTS. A word with several colons and without brackets is
// an IPv6 address.
std::string parse_host(std::string_view word, ListedHost &host) {
    std::string_view name = word, slots;
    bool counted = false;
    if (word.starts_with('[')) {
        size_t end = word.find(']');
        if (end == std::string_view::npos)
            return fmt::format("\"{}\" lacks the ']' after the address", quoted(word));
        name = word.substr(1, end - 1);
        std::string_view rest = word.substr(end + 1);
        if (!rest.empty() && rest[0] != ':')
            return fmt::format("after ']' in \"{}\" only :SLOTS may follow", quoted(word));
        counted = !rest.empty();
        if (counted) slots = rest.substr(1);
    } else if (std::count(word.begin(), word.end(), ':') == 1) {
        counted = true;
        name = word.substr(0, word.find(':'));
        slots = word.substr(name.size() + 1);
    }
    bool address = name.find("::") != name.npos || std::count(name.begin(), name.end(), ':') == 7;
    if (!is_host_name(name)) return fmt::format("\"{}\" is not the name of a host", quoted(name));
    if (name.find(':') != name.npos && !address)
        return fmt::format("\"{}\" is neither HOST:SLOTS nor an IPv6 address", quoted(word));
    if (counted && !read_count(slots, host.slots))
        return not_a_count("the number of slots after ':', ", fmt::format("\"{}\"", quoted(slots)));
    host.name = name;
    return "";
}

void add_host(HostList &hosts, const ListedHost &added) {
    for (ListedHost &host : hosts) {
        if (host.name != added.name) continue;
        host.slots = std::min(host.slots + added.slots, most_slots);
        host.max_slots =
            host.max_slots && added.max_slots ? std::min(host.max_slots + added.max_slots, most_slots) : 0;
        return;
    }
    hosts.push_back(added);
}

// The words of a line, without its comment. "slots = 2" counts as one word, "slots=2".
std::vector<std::string> words_of(std::string_view line) {
    std::vector<std::string> words;
    bool goes_on = false;  // the last word ended with '='
    line = line.substr(0, line.find('#'));
    for (size_t at = 0; (at = line.find_first_not_of(white, at)) != std::string_view::npos;) {
        size_t end = std::min(line.find_first_of(white, at), line.size());
        std::string_view word = line.substr(at, end - at);
        if (!words.empty() && (goes_on || word[0] == '=')) words.back() += word;
        else words.emplace_back(word);
        goes_on = word.back() == '=';
        at = end;
    }
    return words;
}

// True if the text is in UTF-16, as some editors and shells of Windows write it: with a mark at the beginning
// and a zero byte beside each letter.
bool is_utf16(std::string_view text) {
    return text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff") || text.find('\0') != text.npos;
}

// Parses a word that follows the host on a line, such as slots=N.
std::string parse_property(std::string_view word, ListedHost &host) {
    size_t equals = std::min(word.find('='), word.size());
    std::string_view name = word.substr(0, equals);
    std::string_view value = word.substr(std::min(equals + 1, word.size()));
    if (name == "slots") return read_count(value, host.slots) ? "" : not_a_count("slots=", value);
    if (name == "max_slots" || name == "max-slots")
        return read_count(value, host.max_slots) ? "" : not_a_count(fmt::format("{}=", name), value);
    if (name == "user") {
        std::string whole = fmt::format("{}@{}", value, host.name);
        bool named_twice = host.name.find('@') != std::string::npos;
        if (named_twice || !is_host_name(whole))
            return fmt::format("\"{}\" names no user of {}", quoted(word), host.name);
        host.name = whole;
        return "";
    }
    return fmt::format("\"{}\" is not known; a line is HOST, HOST:SLOTS or HOST slots=N max_slots=N",
                       quoted(word));
}

std::string parse_line(std::string_view line, HostList &hosts) {
    std::vector<std::string> words = words_of(line);
    if (words.empty()) return "";
    ListedHost host;
    if (std::string wrong = parse_host(words[0], host); !wrong.empty()) return wrong;
    for (size_t i = 1; i < words.size(); ++i)
        if (std::string wrong = parse_property(words[i], host); !wrong.empty()) return wrong;
    if (host.max_slots && host.max_slots < host.slots)
        return fmt::format("max_slots={} is less than the {} slots", host.max_slots, host.slots);
    add_host(hosts, host);
    return "";
}

// Distributes ranks over the hosts of a list, in rounds. In each round a host gets as many ranks as it has
// slots.
class Filling {
public:
    Filling(const HostList &hosts, const Mapping &mapping)
        : hosts_(hosts), mapping_(mapping), used_(hosts.size(), 0) {}

    // Returns the host of each rank. If the hosts do not have room for all ranks, returns fewer entries.
    std::vector<size_t> fill(int ranks) {
        std::vector<size_t> host_of_rank;
        auto wanted = static_cast<size_t>(ranks);
        for (long round = 1; host_of_rank.size() < wanted; ++round) {
            size_t before = host_of_rank.size();
            // If ranks are mapped by slot, each host gets its whole share of the round at once. If they are
            // mapped by node, each host gets one rank at a time, until all hosts have their shares.
            for (bool more = true; more && host_of_rank.size() < wanted;) {
                size_t pass_before = host_of_rank.size();
                for (size_t host = 0; host < hosts_.size() && host_of_rank.size() < wanted; ++host) {
                    long room = mapping_.by_node ? std::min(1L, room_on(host, round)) : room_on(host, round);
                    room = std::min(room, static_cast<long>(wanted - host_of_rank.size()));
                    for (long i = 0; i < room; ++i) host_of_rank.push_back(host);
                    used_[host] += std::max(room, 0L);
                }
                more = mapping_.by_node && host_of_rank.size() > pass_before;
            }
            if (host_of_rank.size() == before || mapping_.strict) break;
        }
        return host_of_rank;
    }

private:
    long room_on(size_t host, long round) const {
        long share = mapping_.ranks_per_host ? mapping_.ranks_per_host : hosts_[host].slots;
        long limit = share * round;
        if (hosts_[host].max_slots) limit = std::min<long>(limit, hosts_[host].max_slots);
        return limit - used_[host];
    }

    const HostList &hosts_;
    const Mapping &mapping_;
    std::vector<long> used_;
};

struct Block {
    int first_node, nodes, ranks_on_each;
    bool operator==(const Block &) const = default;
};

// The blocks of a process mapping. Consecutive ranks on one node, and consecutive nodes with the same number
// of such ranks, form one block.
std::vector<Block> blocks_of(const std::vector<int> &node_of_rank) {
    std::vector<Block> blocks;
    for (size_t first = 0; first < node_of_rank.size();) {
        size_t end = first;
        while (end < node_of_rank.size() && node_of_rank[end] == node_of_rank[first]) ++end;
        Block next{node_of_rank[first], 1, static_cast<int>(end - first)};
        bool continues = !blocks.empty() &&
                         blocks.back().first_node + blocks.back().nodes == next.first_node &&
                         blocks.back().ranks_on_each == next.ranks_on_each;
        if (continues) ++blocks.back().nodes;
        else blocks.push_back(next);
        first = end;
    }
    return blocks;
}

}  // namespace

std::string parse_hostfile(std::string_view text, const std::string &file, HostList &hosts) {
    size_t before = hosts.size();
    int number = 1;
    if (is_utf16(text))
        return fmt::format("{}: it is no plain text (UTF-16 perhaps); save it as UTF-8", file);
    if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
    for (size_t at = 0; at <= text.size(); ++number) {
        size_t end = std::min(text.find('\n', at), text.size());
        if (std::string wrong = parse_line(text.substr(at, end - at), hosts); !wrong.empty())
            return fmt::format("{}:{}: {}", file, number, wrong);
        at = end + 1;
    }
    return hosts.size() > before
               ? ""
               : fmt::format("{}: the file names no host; write one a line, as HOST or HOST:SLOTS", file);
}

std::string parse_host_list(std::string_view list, const std::string &of, HostList &hosts) {
    for (size_t at = 0; at <= list.size();) {
        size_t end = std::min(list.find(',', at), list.size());
        ListedHost host;
        std::string_view word = list.substr(at, end - at);
        word.remove_prefix(std::min(word.find_first_not_of(white), word.size()));
        word = word.substr(0, word.find_last_not_of(white) + 1);
        if (std::string wrong = parse_host(word, host); !wrong.empty())
            return fmt::format("{} {}: {}", of, quoted(list), wrong);
        add_host(hosts, host);
        at = end + 1;
    }
    return "";
}

bool is_this_host(std::string_view name, std::string_view own) {
    if (name == "localhost" || name == "127.0.0.1" || name == "::1") return true;
    return !name.empty() && (name == own || name == own.substr(0, own.find('.')));
}

void name_this_host(HostList &hosts, const std::string &own) {
    HostList named;
    for (ListedHost &host : hosts) {
        if (is_this_host(host.name, own)) host.name = own;
        add_host(named, host);
    }
    hosts = std::move(named);
}

std::vector<int> Placement::ranks_on(int node) const {
    std::vector<int> ranks;
    for (size_t rank = 0; rank < node_of_rank.size(); ++rank)
        if (node_of_rank[rank] == node) ranks.push_back(static_cast<int>(rank));
    return ranks;
}

std::string place_ranks(const HostList &hosts, const Mapping &mapping, int ranks, Placement &placement) {
    std::vector<size_t> host_of_rank = Filling(hosts, mapping).fill(ranks);
    const char *many = hosts.size() == 1 ? "host has" : "hosts have";
    if (host_of_rank.size() < static_cast<size_t>(ranks))
        return fmt::format(
            "the {} {} room for {} ranks ({}), and the job has {}; name more hosts, or ask for fewer ranks",
            hosts.size(), many, host_of_rank.size(),
            mapping.strict ? fmt::format("{} on each", mapping.ranks_per_host) : "max_slots", ranks);
    std::vector<int> node_of_host(hosts.size(), -1);
    for (size_t host : host_of_rank) node_of_host[host] = 0;
    placement.hosts.clear();
    for (size_t host = 0; host < hosts.size(); ++host) {
        if (node_of_host[host] < 0) continue;
        node_of_host[host] = static_cast<int>(placement.hosts.size());
        placement.hosts.push_back(hosts[host].name);
    }
    placement.node_of_rank.clear();
    for (size_t host : host_of_rank) placement.node_of_rank.push_back(node_of_host[host]);
    return "";
}

std::string process_mapping(const std::vector<int> &node_of_rank) {
    std::vector<Block> blocks = blocks_of(node_of_rank);
    // Readers repeat the list until every rank has a node, so one period of the list is enough.
    for (size_t period = 1; period < blocks.size(); ++period) {
        if (!std::equal(blocks.begin() + static_cast<long>(period), blocks.end(), blocks.begin())) continue;
        blocks.resize(period);
        break;
    }
    std::string text = "(vector";
    for (const Block &block : blocks)
        text += fmt::format(",({},{},{})", block.first_node, block.nodes, block.ranks_on_each);
    return text + ")";
}

}  // namespace lanyard::launch
