// Tests addresses, the choice of interfaces, and the job's secret.
#include "net/address.h"

#include <gtest/gtest.h>

#include "net/secret.h"

namespace lanyard {
namespace {

Address address(const char *text) {
    Address parsed;
    EXPECT_TRUE(parse_address(text, parsed)) << text;
    return parsed;
}

TEST(Address, IsReadAndWrittenAlike) {
    for (const char *text : {"10.0.1.2", "127.0.0.1", "255.255.255.255", "::1", "2001:db8::7", "fe80::1%1"})
        EXPECT_EQ(to_text(address(text)), text);
    EXPECT_EQ(to_text_with_port(address("10.0.1.2").with_port(4711)), "10.0.1.2:4711");
    EXPECT_EQ(to_text_with_port(address("2001:db8::7").with_port(80)), "[2001:db8::7]:80");
    Address none;
    for (const char *text :
         {"", "10.0.1", "10.0.1.256", "localhost", "1:2", "fe80::1%no-such-interface", "10.0.0.1 "})
        EXPECT_FALSE(parse_address(text, none)) << text;
}

TEST(Address, IsReadWithItsPort) {
    for (const char *text : {"10.0.1.2:4711", "127.0.0.1:0", "[::1]:65535", "[fe80::1%1]:80"}) {
        Address parsed;
        EXPECT_TRUE(parse_address_with_port(text, parsed)) << text;
        EXPECT_EQ(to_text_with_port(parsed), text);
    }
    Address none;
    for (const char *text : {"", ":", "10.0.1.2", "10.0.1.2:", "10.0.1.2:65536", "10.0.1.2:-1", "10.0.1.2:1 ",
                             "::1:80", "[10.0.1.2]:80", "[]:1", "[::1]"})
        EXPECT_FALSE(parse_address_with_port(text, none)) << text;
}

TEST(Address, SurvivesTheKernelsForm) {
    for (const char *text : {"10.0.1.2", "2001:db8::7", "fe80::1%3"}) {
        sockaddr_storage place;
        to_system(address(text).with_port(99), place);
        EXPECT_EQ(from_system(place), address(text).with_port(99));
    }
}

TEST(Address, KnowsLoopback) {
    EXPECT_TRUE(address("127.0.0.1").is_loopback());
    EXPECT_TRUE(address("127.8.9.1").is_loopback());
    EXPECT_TRUE(address("::1").is_loopback());
    EXPECT_FALSE(address("10.0.0.1").is_loopback());
    EXPECT_FALSE(address("::2").is_loopback());
}

std::vector<std::string> chosen(const char *wanted) {
    const std::vector<Interface> all = {{"lo", address("127.0.0.1"), true},
                                        {"eth0", address("10.1.2.3"), false},
                                        {"eth1", address("10.2.2.3"), false},
                                        {"eth1", address("2001:db8::7"), false},
                                        {"eth2", address("10.3.2.3"), false, false, false},
                                        {"docker0", address("172.17.0.1"), false, true, false},
                                        {"eth0", address("fe80::7%1"), false}};
    std::vector<Interface> list;
    if (Error error = choose_interfaces(wanted, all, list)) return {error.take().sentence};
    std::vector<std::string> texts;
    for (const Interface &interface : list) texts.push_back(to_text(interface.address));
    return texts;
}

using Texts = std::vector<std::string>;

TEST(Interfaces, AreChosenByNameAddressAndNetwork) {
    EXPECT_EQ(chosen(""), (Texts{"10.1.2.3", "10.2.2.3", "2001:db8::7"}))
        << "not loopback, nor what is down, without carrier or link-local";
    EXPECT_EQ(chosen("eth0"), (Texts{"10.1.2.3", "fe80::7%1"}));
    EXPECT_EQ(chosen("eth1,eth0"), (Texts{"10.2.2.3", "2001:db8::7", "10.1.2.3", "fe80::7%1"}));
    EXPECT_EQ(chosen("10.2.0.0/16"), (Texts{"10.2.2.3"}));
    EXPECT_EQ(chosen("10.0.0.0/14,10.1.2.3"), (Texts{"10.1.2.3", "10.2.2.3"}));
    EXPECT_EQ(chosen("2001:db8::/32"), (Texts{"2001:db8::7"}));
    EXPECT_EQ(chosen("lo"), (Texts{"127.0.0.1"}));
    EXPECT_EQ(chosen("docker0"), (Texts{"172.17.0.1"})) << "a named interface is used";
}

TEST(Interfaces, ThatAreNotThereAreNamedWithThoseThatAre) {
    const char *rest =
        "', which is no interface, address or network of this machine; there are lo (127.0.0.1), eth0 "
        "(10.1.2.3), eth1 (10.2.2.3), eth1 (2001:db8::7), docker0 (172.17.0.1), eth0 (fe80::7%1)";
    for (std::string wanted : {"eth7", "eth2", "10.9.0.0/16", "10.1.2.3/33", "10.1.2.3/x"})
        EXPECT_EQ(chosen(("eth0," + wanted).c_str()), (Texts{"LANYARD_INTERFACES names '" + wanted + rest}));
}

TEST(Secret, ProvesToThoseWhoHaveIt) {
    Secret own = Secret::random(), same, other = Secret::random();
    ASSERT_TRUE(Secret::parse(own.to_text(), same));
    EXPECT_EQ(own.to_text().size(), 64u);
    EXPECT_TRUE(equal(own.prove("text", 4), same.prove("text", 4)));
    EXPECT_FALSE(equal(own.prove("text", 4), other.prove("text", 4)));
    EXPECT_FALSE(equal(own.prove("text", 4), own.prove("Text", 4)));
    const std::string digits(63, '0');
    for (const std::string &wrong : {std::string(), std::string("abc"), digits, digits + "00", digits + "g"})
        EXPECT_FALSE(Secret::parse(wrong, same)) << wrong;
}

}  // namespace
}  // namespace lanyard
