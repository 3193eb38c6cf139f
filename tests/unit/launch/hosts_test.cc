// Tests host files, host lists and the mapping, also with random placements and random text.
#include "launch/hosts.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "bootstrap/bootstrap.h"

namespace lanyard::launch {
namespace {

std::string shown(const HostList &hosts) {
    std::string text;
    for (const ListedHost &host : hosts) {
        std::string limit = host.max_slots ? "/" + std::to_string(host.max_slots) : "";
        text += (text.empty() ? "" : " ") + host.name + ":" + std::to_string(host.slots) + limit;
    }
    return text;
}

std::string read_file(const std::string &text) {
    HostList hosts;
    std::string wrong = parse_hostfile(text, "hosts.txt", hosts);
    return wrong.empty() ? shown(hosts) : wrong;
}

std::string read_list(const std::string &text) {
    HostList hosts;
    std::string wrong = parse_host_list(text, "--host", hosts);
    return wrong.empty() ? shown(hosts) : wrong;
}

TEST(Hostfile, BothDialects) {
    EXPECT_EQ(read_file("a\nb:4\nc slots=2 max_slots=8\n"), "a:1 b:4 c:2/8");
    EXPECT_EQ(read_file("# hosts\r\n\r\n  a:2   # two\r\n\tb\tslots=3\r\n"), "a:2 b:3");
    EXPECT_EQ(read_file("me@a.example.org:2\nb user=you slots=2"), "me@a.example.org:2 you@b:2");
    EXPECT_EQ(read_file("[fe80::1]:4\nfe80::2\n[fe80::3%eth0]\n10.0.0.7:2"),
              "fe80::1:4 fe80::2:1 fe80::3%eth0:1 10.0.0.7:2");
    EXPECT_EQ(read_file("a slots=1 max-slots=1"), "a:1/1");
}

TEST(Hostfile, HostsThatOccurAgainGetMore) {
    EXPECT_EQ(read_file("a\nb\na\na:2"), "a:4 b:1");
    EXPECT_EQ(read_file("a max_slots=2\na max_slots=3\nb max_slots=2\nb"), "a:2/5 b:2");
    std::string many;
    for (int i = 0; i < 40'000; ++i) many += "a max_slots=65536\n";
    EXPECT_EQ(read_file(many), "a:40000/65536");
}

TEST(Hostfile, SaysWhereAndWhatIsWrong) {
    EXPECT_EQ(read_file("a\n\nb slots=x"), "hosts.txt:3: slots=x is not a number");
    EXPECT_EQ(read_file("a slots="), "hosts.txt:1: slots= needs a number after it");
    EXPECT_EQ(read_file("a slots = "), "hosts.txt:1: slots= needs a number after it");
    EXPECT_EQ(read_file("a slots = x"), "hosts.txt:1: slots=x is not a number");
    EXPECT_EQ(read_file("a = 2"), "hosts.txt:1: \"a=2\" is not the name of a host");
    EXPECT_EQ(read_file("a\na:2:2"), "hosts.txt:2: \"a:2:2\" is neither HOST:SLOTS nor an IPv6 address");
    EXPECT_EQ(read_file("a slots=0"), "hosts.txt:1: slots=0 is not from 1 to 65536");
    EXPECT_EQ(read_file("a:99999999999999999999"),
              "hosts.txt:1: the number of slots after ':', \"99999999999999999999\" is not a number");
    EXPECT_EQ(read_file("a slots=4 max_slots=2"), "hosts.txt:1: max_slots=2 is less than the 4 slots");
    EXPECT_EQ(
        read_file("a ifname=eth0"),
        "hosts.txt:1: \"ifname=eth0\" is not known; a line is HOST, HOST:SLOTS or HOST slots=N max_slots=N");
    EXPECT_EQ(read_file("ok\n-oProxyCommand=x"),
              "hosts.txt:2: \"-oProxyCommand=x\" is not the name of a host");
    EXPECT_EQ(read_file("a;b"), "hosts.txt:1: \"a;b\" is not the name of a host");
    EXPECT_EQ(read_file("[fe80::1:4"), "hosts.txt:1: \"[fe80::1:4\" lacks the ']' after the address");
    EXPECT_EQ(read_file("[fe80::1]4"), "hosts.txt:1: after ']' in \"[fe80::1]4\" only :SLOTS may follow");
    EXPECT_EQ(read_file("\177ELF\2\1"), "hosts.txt:1: \"?ELF??\" is not the name of a host");
    EXPECT_EQ(read_file(std::string(300, 'a')),
              "hosts.txt:1: \"" + std::string(100, 'a') + "...\" is not the name of a host");
    EXPECT_EQ(read_file("# nobody\n\n"),
              "hosts.txt: the file names no host; write one a line, as HOST or HOST:SLOTS");
}

TEST(Hostfile, SpacesAroundTheEqualsSign) {
    for (const char *slots : {"slots = 2", "slots= 2", "slots =2", "slots\t=\t2"})
        EXPECT_EQ(read_file(std::string("a ") + slots + "\nb  " + slots + "  max_slots = 3 # two\nc"),
                  "a:2 b:2/3 c:1")
            << slots;
    EXPECT_EQ(read_file("a user = me slots = 2"), "me@a:2");
}

TEST(Hostfile, FromWindows) {
    const std::string mark = "\xef\xbb\xbf";
    EXPECT_EQ(read_file(mark + "a slots = 2\r\nb:3\r\n"), "a:2 b:3");
    EXPECT_EQ(read_file(mark + "# hosts\r\n\r\na\r\n"), "a:1");
    EXPECT_EQ(read_file("a\n" + mark + "b"),
              "hosts.txt:2: \"" + mark + "b\" is not the name of a host");  // a mark belongs at the beginning
    EXPECT_EQ(read_file(mark), "hosts.txt: the file names no host; write one a line, as HOST or HOST:SLOTS");
    for (const std::string &text : {std::string("\xff\xfe"
                                                "a\0",
                                                4),
                                    std::string("\xfe\xff\0a", 4), std::string("a\0\n\0", 4)})
        EXPECT_EQ(read_file(text), "hosts.txt: it is no plain text (UTF-16 perhaps); save it as UTF-8");
}

TEST(HostList, OnTheCommandLine) {
    EXPECT_EQ(read_list(" a:2, b ,c"), "a:2 b:1 c:1");
    EXPECT_EQ(read_list("a, ,b"), "--host a, ,b: \"\" is not the name of a host");
    EXPECT_EQ(read_list("a:2,b,[::1]:4"), "a:2 b:1 ::1:4");
    EXPECT_EQ(read_list("a,"), "--host a,: \"\" is not the name of a host");
    EXPECT_EQ(read_list("fe80::2%eth0,1:2:3:4:5:6:7:8"), "fe80::2%eth0:1 1:2:3:4:5:6:7:8:1");
    EXPECT_EQ(read_list("a:b:c"), "--host a:b:c: \"a:b:c\" is neither HOST:SLOTS nor an IPv6 address");
}

TEST(Hosts, ThisMachineHasOneName) {
    for (const char *name : {"localhost", "127.0.0.1", "::1", "own.site", "own"})
        EXPECT_TRUE(is_this_host(name, "own.site")) << name;
    for (const char *name : {"", "own.other", "ow", "own.site.org", "localhost2"})
        EXPECT_FALSE(is_this_host(name, "own.site")) << name;
    HostList hosts = {{"localhost", 1, 0}, {"b", 1, 0}, {"own", 2, 0}};
    name_this_host(hosts, "own");
    EXPECT_EQ(shown(hosts), "own:3 b:1");
}

std::string placed(const HostList &hosts, const Mapping &mapping, int ranks) {
    Placement placement;
    std::string wrong = place_ranks(hosts, mapping, ranks, placement);
    if (!wrong.empty()) return wrong;
    std::string text;
    for (int node : placement.node_of_rank) text += placement.hosts[static_cast<size_t>(node)];
    return text;
}

TEST(Mapping, BySlotAndByNode) {
    HostList hosts = {{"a", 2, 0}, {"b", 1, 0}, {"c", 3, 0}};
    EXPECT_EQ(placed(hosts, {}, 4), "aabc");
    EXPECT_EQ(placed(hosts, {}, 8), "aabcccaa");
    EXPECT_EQ(placed(hosts, {.by_node = true}, 6), "abcacc");
    EXPECT_EQ(placed(hosts, {.by_node = true}, 9), "abcaccabc");
    EXPECT_EQ(placed(hosts, {.ranks_per_host = 1}, 5), "abcab");
    EXPECT_EQ(placed(hosts, {.ranks_per_host = 2}, 5), "aabbc");
    EXPECT_EQ(placed(hosts, {.by_node = true, .ranks_per_host = 2}, 7), "abcabca");
}

TEST(Mapping, Limits) {
    HostList hosts = {{"a", 1, 2}, {"b", 1, 0}};
    EXPECT_EQ(placed(hosts, {}, 6), "ababbb");
    hosts[1].max_slots = 1;
    EXPECT_EQ(placed(hosts, {}, 4),
              "the 2 hosts have room for 3 ranks (max_slots), and the job has 4; name more hosts, or ask for "
              "fewer ranks");
    EXPECT_EQ(placed(hosts, {.ranks_per_host = 1, .strict = true}, 3),
              "the 2 hosts have room for 2 ranks (1 on each), and the job has 3; name more hosts, or ask for "
              "fewer ranks");
    EXPECT_EQ(placed({{"a", 1, 0}, {"b", 2, 0}}, {.ranks_per_host = 2, .strict = true}, 4), "aabb");
}

TEST(Mapping, HostsWithoutRanksAreLeftOut) {
    Placement placement;
    ASSERT_EQ(place_ranks({{"a", 4, 0}, {"b", 4, 0}, {"c", 4, 0}}, {}, 5, placement), "");
    EXPECT_EQ(placement.hosts, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(placement.ranks_on(1), std::vector<int>{4});
    EXPECT_TRUE(placement.ranks_on(-1).empty());
}

TEST(ProcessMapping, Forms) {
    EXPECT_EQ(process_mapping({0, 0, 0}), "(vector,(0,1,3))");
    EXPECT_EQ(process_mapping({0, 0, 1, 1, 2, 2}), "(vector,(0,3,2))");
    EXPECT_EQ(process_mapping({0, 1, 2, 0, 1, 2, 0}), "(vector,(0,3,1),(0,3,1),(0,1,1))");
    EXPECT_EQ(process_mapping({0, 1, 0, 1}), "(vector,(0,2,1))");
    EXPECT_EQ(process_mapping({0, 0, 1}), "(vector,(0,1,2),(1,1,1))");
}

unsigned seed() {
    const char *text = getenv("LANYARD_TEST_SEED");
    return text ? static_cast<unsigned>(atoi(text)) : 1;
}

// The library reads back what was placed, and no host has more ranks than allowed.
TEST(Mapping, RandomPlacementsKeepTheirPromises) {
    SCOPED_TRACE("LANYARD_TEST_SEED=" + std::to_string(seed()));
    std::mt19937 random(seed());
    auto below = [&](int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); };
    for (int turn = 0; turn < 3000; ++turn) {
        HostList hosts;
        for (int i = 1 + below(6); i > 0; --i) {
            int slots = 1 + below(4);
            hosts.push_back(
                {std::string(1, static_cast<char>('a' + i)), slots, below(3) ? 0 : slots + below(3)});
        }
        Mapping mapping{below(2) == 1, below(3), false};
        int ranks = 1 + below(30);
        Placement placement;
        std::string wrong = place_ranks(hosts, mapping, ranks, placement);
        long room = 0;
        for (const ListedHost &host : hosts) room += host.max_slots ? host.max_slots : ranks;
        ASSERT_EQ(wrong.empty(), room >= ranks) << wrong;
        if (!wrong.empty()) continue;
        std::map<std::string, int> used;
        for (int node : placement.node_of_rank) ++used[placement.hosts.at(static_cast<size_t>(node))];
        int least = ranks, most = 0;
        for (const ListedHost &host : hosts) {
            ASSERT_TRUE(!host.max_slots || used[host.name] <= host.max_slots);
            if (host.max_slots) continue;
            int share = mapping.ranks_per_host ? mapping.ranks_per_host : host.slots;
            least = std::min(least, used[host.name] / share);                // rounds finished
            most = std::max(most, (used[host.name] + share - 1) / share);  // rounds begun
        }
        ASSERT_LE(most, least + 1);  // a host gets its next share only when all have had theirs
        std::vector<int> read_back;
        ASSERT_TRUE(
            lanyard::parse_process_mapping(process_mapping(placement.node_of_rank), ranks, read_back));
        ASSERT_EQ(read_back, placement.node_of_rank);
    }
}

TEST(Hostfile, RandomTextIsReadOrRefused) {
    SCOPED_TRACE("LANYARD_TEST_SEED=" + std::to_string(seed()));
    std::mt19937 random(seed());
    const std::string pieces[] = {"a",           "b:2", " ", "\n", "slots=", "max_slots=9",
                                  "#",           "[",   "]", ":",  "::1",    "=",
                                  "99999999999", "-",   "@", ",",  "\xff",   "\r\n"};
    for (int turn = 0; turn < 20000; ++turn) {
        std::string text;
        for (unsigned i = random() % 12; i > 0; --i) text += pieces[random() % std::size(pieces)];
        HostList hosts;
        std::string wrong = parse_hostfile(text, "f", hosts);
        ASSERT_TRUE(wrong.empty() || wrong.starts_with("f:")) << wrong;
        for (const ListedHost &host : hosts)
            ASSERT_TRUE(!host.name.empty() && host.name[0] != '-' && host.slots >= 1) << text;
    }
}

}  // namespace
}  // namespace lanyard::launch
