// Writes and reads a profile's numbers as JSON; see profile_table.h.
// Tested by: tests/launch/test_profile.py.
#include <nlohmann/json.hpp>

#include "tool/profile_table.h"

namespace lanyard::tool {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char *wait_names[] = {"late senders", "late receivers", "other ranks"};
constexpr const char *protocol_names[] = {"short", "eager", "rendezvous", "write"};

Json json_of(const RankProfile::Sum &sum) { return {{"messages", sum.messages}, {"bytes", sum.bytes}}; }
RankProfile::Sum sum_of(const Json &json) { return {json.at("messages"), json.at("bytes")}; }

// Calls act(name, number) for every number. Writing and reading JSON both use this list.
template <class Do>
void each_number(Do act, auto &datagrams) {
    act("packets", datagrams.sent);
    act("bytes", datagrams.bytes);
    act("given up by order", datagrams.by_order);
    act("given up by time", datagrams.by_time);
    act("given up by probe", datagrams.by_probe);
    act("given up too early", datagrams.too_early);
    act("acknowledgements alone", datagrams.alone);
    act("acknowledgements carried", datagrams.carried);
    act("received", datagrams.received);
    act("missing", datagrams.missing);
    act("doubled", datagrams.doubled);
    act("damaged", datagrams.damaged);
    act("strangers", datagrams.strangers);
    act("stale", datagrams.stale);
    act("garbage", datagrams.garbage);
    act("without room", datagrams.without_room);
}

template <class Do>
void each_number_of_peer(Do act, auto &peer) {
    act("rank", peer.rank);
    act("sent", peer.sent);
    act("sent again", peer.sent_again);
    act("too early", peer.too_early);
    act("received", peer.received);
    act("missing", peer.missing);
    act("round trip", peer.round_trip);
    act("least round trip", peer.least_round_trip);
}

Json json_of(const RankProfile::Datagrams &datagrams) {
    Json all = Json::object(), peers = Json::array();
    each_number([&](const char *name, uint64_t value) { all[name] = value; }, datagrams);
    for (const auto &peer : datagrams.peers) {
        Json one = Json::object();
        each_number_of_peer([&](const char *name, auto value) { one[name] = value; }, peer);
        peers.push_back(one);
    }
    all["peers"] = peers;
    return all;
}

RankProfile::Datagrams datagrams_of(const Json &json) {
    RankProfile::Datagrams datagrams;
    datagrams.used = true;
    each_number([&](const char *name, uint64_t &value) { value = json.at(name); }, datagrams);
    for (const Json &one : json.at("peers"))
        each_number_of_peer([&](const char *name, auto &value) { value = one.at(name); },
                            datagrams.peers.emplace_back());
    return datagrams;
}

}  // namespace

std::string text_of(const RankProfile &rank) {
    Json calls = Json::object(), waits = Json::object(), sizes = Json::array(), protocols = Json::object(),
         paths = Json::object();
    for (const auto &call : rank.calls)
        calls[call.name] = {{"calls", call.calls}, {"seconds", call.seconds}, {"waiting", call.waiting}};
    for (size_t i = 0; i < rank.waits.size(); ++i)
        waits[wait_names[i]] = {{"seconds", rank.waits[i].seconds}, {"moving", rank.waits[i].moving}};
    for (const auto &sum : rank.by_size) sizes.push_back(json_of(sum));
    while (!sizes.empty() && sizes.back()["messages"] == 0) sizes.erase(sizes.size() - 1);
    for (size_t i = 0; i < rank.by_protocol.size(); ++i)
        protocols[protocol_names[i]] = json_of(rank.by_protocol[i]);
    for (const auto &path : rank.by_path) paths[path.path] = json_of(path.sum);
    Json json{{"rank", rank.rank},
              {"host", rank.host},
              {"seconds", rank.seconds},
              {"calls", calls},
              {"waits", waits},
              {"sent",
               {{"by size class", sizes},
                {"by protocol", protocols},
                {"by path", paths},
                {"largest", rank.largest},
                {"peers", rank.peers}}},
              {"unexpected", {{"messages", rank.unexpected}, {"most bytes", rank.most_unexpected_bytes}}}};
    if (rank.datagrams.used) json["datagrams"] = json_of(rank.datagrams);
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);  // a host's name may not be UTF-8
}

RankProfile rank_profile(const std::string &text) {
    Json json = Json::parse(text);
    RankProfile rank;
    rank.rank = json.at("rank");
    rank.host = json.at("host");
    rank.seconds = json.at("seconds");
    for (const auto &[name, call] : json.at("calls").items())
        rank.calls.push_back({name, call.at("calls"), call.at("seconds"), call.at("waiting")});
    for (size_t i = 0; i < rank.waits.size(); ++i) {
        const Json &wait = json.at("waits").at(wait_names[i]);
        rank.waits[i] = {wait.at("seconds"), wait.at("moving")};
    }
    const Json &sent = json.at("sent");
    for (const Json &sum : sent.at("by size class")) rank.by_size.push_back(sum_of(sum));
    for (size_t i = 0; i < rank.by_protocol.size(); ++i)
        rank.by_protocol[i] = sum_of(sent.at("by protocol").at(protocol_names[i]));
    for (const auto &[path, sum] : sent.at("by path").items()) rank.by_path.push_back({path, sum_of(sum)});
    rank.largest = sent.at("largest");
    rank.peers = sent.at("peers");
    rank.unexpected = json.at("unexpected").at("messages");
    rank.most_unexpected_bytes = json.at("unexpected").at("most bytes");
    if (json.contains("datagrams")) rank.datagrams = datagrams_of(json.at("datagrams"));
    return rank;
}

std::string json_of(const std::string &job, const std::vector<std::string> &texts) {
    Json ranks = Json::array();
    for (const std::string &text : texts) ranks.push_back(Json::parse(text));
    return Json{{"job", job}, {"library", "Lanyard " LANYARD_VERSION}, {"ranks", ranks}}.dump(1) + "\n";
}

}  // namespace lanyard::tool
