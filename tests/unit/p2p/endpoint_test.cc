// Peers are added while messages are under way. What is stored about earlier peers keeps its address.
#include "unit/p2p/scripted.h"

namespace lanyard {
namespace {

class EndpointTest : public ScriptedTest {};

TEST_F(EndpointTest, PeersStayWhereTheyAreWhileOthersCome) {
    Peer *first = &endpoint.peers[0], *second = &endpoint.peers[1];
    path->room = 0;
    endpoint.reply(1, EnvelopeKind::cancel, 5, 0);  // waits for room
    for (uint32_t number = 2; number < 3000; ++number) ASSERT_EQ(endpoint.append_peer(true), number);
    EXPECT_EQ(endpoint.peers.size(), 3000u);
    EXPECT_EQ(&endpoint.peers[0], first);
    EXPECT_EQ(&endpoint.peers[1], second);
    EXPECT_EQ(endpoint.peers[2999].number, 2999u);
    path->room = 1;
    step();
    EXPECT_EQ(path->of_kind(EnvelopeKind::cancel).size(), 1u);
}

TEST_F(EndpointTest, AStrangerHasCreditOfItsOwnAndIsReachedOnceItHasAPath) {
    EXPECT_EQ(endpoint.append_peer(true), 2u);
    Peer &stranger = endpoint.peers[2];
    EXPECT_TRUE(stranger.stranger);
    EXPECT_FALSE(peer().stranger);
    EXPECT_EQ(peer().credit_left, credit);
    EXPECT_EQ(stranger.credit_left, credit / 2);
    EXPECT_EQ(stranger.path, nullptr);
    endpoint.channels.route(stranger, *path);
    endpoint.reply(2, EnvelopeKind::cancel, 5, 0);
    EXPECT_EQ(path->of_kind(EnvelopeKind::cancel).at(0).context, 5u);
}

}  // namespace
}  // namespace lanyard
