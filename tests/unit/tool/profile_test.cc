// A profile's numbers must survive being written as text, and the table must state what they mean.
#include "tool/profile_table.h"

#include <gtest/gtest.h>

namespace lanyard::tool {
namespace {

RankProfile some_rank(int number) {
    RankProfile rank;
    rank.rank = number;
    rank.host = "here";
    rank.seconds = 10;
    rank.calls = {{"MPI_Send", 1200, 1.0 + number, 0.5}, {"MPI_Barrier", 3, 0.5, 0.5}};
    rank.waits = {{{0.2, 0.0}, {0.5, 0.25}, {0.5, 0.0}}};
    rank.by_size = {{3, 0}, {0, 0}, {0, 0}, {0, 0}, {1200, 9600}};
    rank.by_protocol = {{{1203, 9600}, {0, 0}, {0, 0}, {0, 0}}};
    rank.by_path = {{"shm", {1203, 9600}}};
    rank.largest = 8;
    rank.peers = 1;
    rank.unexpected = 7;
    rank.most_unexpected_bytes = 2048;
    return rank;
}

TEST(Profile, NumbersSurviveTheirWayAsText) {
    RankProfile sent = some_rank(1), received = rank_profile(text_of(sent));
    EXPECT_EQ(text_of(received), text_of(sent));
    EXPECT_EQ(received.rank, 1);
    EXPECT_EQ(received.calls.at(0).calls, 1200u);
    EXPECT_EQ(received.waits[1].moving, 0.25);
    EXPECT_EQ(received.by_size.at(4).bytes, 9600u);
    EXPECT_EQ(received.by_path.at(0).path, "shm");
    EXPECT_EQ(received.most_unexpected_bytes, 2048u);
}

TEST(Profile, TableOfTwoRanks) {
    EXPECT_EQ(
        table_of({some_rank(0), some_rank(1)}),
        "Profile of 2 ranks: 10 s from MPI_Init to MPI_Finalize, "
        R"(20.0 % of it in MPI (rank 0: 15.0 %, rank 1: 25.0 %)

call                                calls  per rank    of run      most  on rank  waiting
MPI_Send                            2,400     1.5 s    15.0 %       2 s        1     33 %
MPI_Barrier                             6    500 ms     5.0 %    500 ms        0    100 %

waited for                                 per rank    of run      most  on rank
messages not sent yet (late senders)         200 ms     2.0 %    200 ms        0
receives not posted yet (late receivers)     250 ms     2.5 %    250 ms        0
other ranks, in collectives                  500 ms     5.0 %    500 ms        0
long messages on their way                   250 ms     2.5 %    250 ms        0
nothing: computing, outside MPI                 8 s    80.0 %     8.5 s        0
Imbalance 6 %: rank 0 computes that much longer than the mean; with even shares its work would end 500 ms )"
        R"(earlier

Sent: 2,406 messages with 18.8 KiB, 240 per second; the largest had 8 B; each rank sent to 1 other at most
size                     messages     bytes  of messages
0 B                             6       0 B    0 % 
to 15 B                     2,400  18.8 KiB  100 % #######################################

protocol   short (beside the envelope)           2,406 messages  18.8 KiB
           eager (sent at once)                      0 messages       0 B
           rendezvous (offered first)                0 messages       0 B
           write (to announced receives)             0 messages       0 B
path       shm                                   2,406 messages  18.8 KiB
Stored because they (or their offers) arrived before their receive: 14 messages, with up to 2 KiB of )"
        R"(payload on one rank
)");
}

// The heading and the rows compute shares in the same way: mean time divided by mean run time. Neither is a
// mean of the shares of single ranks.
TEST(Profile, HeadingAndTableMeanTheSameByAShare) {
    RankProfile shorter = some_rank(0), longer = some_rank(1);
    shorter.seconds = 1;
    shorter.calls = {{"MPI_Send", 1, 0.1, 0}};
    longer.seconds = 9;
    longer.calls = {{"MPI_Send", 1, 8.9, 0}};
    std::string table = table_of({shorter, longer});
    EXPECT_NE(
        table.find(
            "5 s from MPI_Init to MPI_Finalize, 90.0 % of it in MPI (rank 0: 10.0 %, rank 1: 98.9 %)\n"),
        std::string::npos)
        << table;
    EXPECT_NE(table.find("MPI_Send                                2     4.5 s    90.0 %"), std::string::npos)
        << table;
    EXPECT_NE(table.find("nothing: computing, outside MPI              500 ms    10.0 %"), std::string::npos)
        << table;
}

RankProfile rank_with_datagrams(int number, int other, uint64_t again, uint64_t missing) {
    RankProfile rank = some_rank(number);
    RankProfile::Datagrams &all = rank.datagrams;
    all.used = true;
    all.sent = 1500;
    all.bytes = 1 << 20;
    all.by_order = again - 1;
    all.by_probe = 1;
    all.alone = 300;
    all.carried = 50;
    all.received = 1000 - missing;
    all.missing = missing;
    all.doubled = 4;
    all.peers = {{other, 1200, again, 0, all.received, missing, 250e-6, 40e-6}};
    return rank;
}

TEST(Profile, DatagramsSurviveTheirWayAsText) {
    RankProfile sent = rank_with_datagrams(0, 1, 7, 5), received = rank_profile(text_of(sent));
    EXPECT_EQ(text_of(received), text_of(sent));
    EXPECT_TRUE(received.datagrams.used);
    EXPECT_EQ(received.datagrams.by_order, 6u);
    EXPECT_EQ(received.datagrams.missing, 5u);
    EXPECT_EQ(received.datagrams.peers.at(0).least_round_trip, 40e-6);
    EXPECT_FALSE(rank_profile(text_of(some_rank(1))).datagrams.used);
}

// The packets lost from 0 to 1 are those that 1 reports as missing.
TEST(Profile, DatagramsOfTwoRanks) {
    std::string table = table_of({rank_with_datagrams(0, 1, 7, 5), rank_with_datagrams(1, 0, 3, 6)});
    EXPECT_EQ(table.substr(table.find("\ndatagrams")), R"(
datagrams  sent                                  3,000 packets      2 MiB
           declared lost, sent again                10 packets      0.5 %
           of these by order 8, by timer 0, by probe 2; too early 0
           never received                           11 packets      0.6 %
           received twice                            8 packets      0.4 %
           acknowledgements alone                  600 packets     20.0 %
           acknowledgements carried                100 packets      3.3 %

from rank to rank             packets  sent again       lost  round trip     least
0 to 1                          1,200           7          6      250 us     40 us
1 to 0                          1,200           3          5      250 us     40 us
)");
}

TEST(Profile, OfManyPairsThoseThatLostMost) {
    RankProfile rank = rank_with_datagrams(0, 1, 7, 5);
    for (int other = 2; other < 15; ++other)
        rank.datagrams.peers.push_back({other, 10, static_cast<uint64_t>(other), 0, 10, 0, 1e-6, 1e-6});
    std::string table = table_of({rank});
    EXPECT_NE(
        table.find("0 to 14                            10          14          -        1 us      1 us\n"),
        std::string::npos)
        << table;
    EXPECT_EQ(table.find("0 to 2 "), std::string::npos) << table;
    EXPECT_NE(table.find("and 4 others, which lost less\n"), std::string::npos) << table;
}

TEST(Profile, OneRankThatSentNothing) {
    RankProfile rank;
    rank.seconds = 1;
    rank.calls = {{"MPI_Comm_rank", 1, 0, 0}};
    EXPECT_NE(
        table_of({rank}).find("Profile of 1 rank: 1 s from MPI_Init to MPI_Finalize, 0.0 % of it in MPI\n"),
        std::string::npos);
    EXPECT_NE(table_of({rank}).find("No messages were sent."), std::string::npos);
}

TEST(Profile, RanksThatComputeEquallyLongAreInBalance) {
    RankProfile one = some_rank(0), other = some_rank(0);
    other.rank = 1;
    EXPECT_NE(table_of({one, other}).find("All ranks compute for about the same time.\n"), std::string::npos);
}

TEST(Profile, SeveralHostsTheOneThatComputesLongestFirst) {
    std::vector<RankProfile> ranks;
    for (int i = 0; i < 4; ++i) {
        ranks.push_back(some_rank(i));
        ranks.back().host = i < 1 ? "fast" : "slow";
        ranks.back().seconds = i < 1 ? 4 : 10;
    }
    EXPECT_NE(table_of(ranks).find(R"(
host                                ranks outside MPI, a rank   in MPI, a rank   sent, a rank
slow                                    3               6.5 s            3.5 s       9.38 KiB
fast                                    1               2.5 s            1.5 s       9.38 KiB

Sent: 4,812 messages)"),
              std::string::npos)
        << table_of(ranks);
}

TEST(Profile, OfManyCallsTheLongestAreShown) {
    RankProfile rank;
    rank.seconds = 1;
    for (int i = 0; i < 20; ++i) rank.calls.push_back({"MPI_Call_" + std::to_string(i), 1, i * 0.01, 0});
    std::string table = table_of({rank});
    EXPECT_NE(table.find("MPI_Call_19 "), std::string::npos);
    EXPECT_EQ(table.find("MPI_Call_4 "), std::string::npos);
    EXPECT_NE(table.find("and 5 others, which took less\n"), std::string::npos);
}

}  // namespace
}  // namespace lanyard::tool
