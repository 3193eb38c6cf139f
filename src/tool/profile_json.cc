#include <nlohmann/json.hpp>

#include "tool/profile_table.h"

namespace lanyard::tool {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char *wait_names[] = {"late senders", "late receivers", "other ranks"};
constexpr const char *protocol_names[] = {"short", "eager", "rendezvous", "write"};

Json json_of(const RankProfile::Sum &sum) { return {{"messages", sum.messages}, {"bytes", sum.bytes}}; }
RankProfile::Sum sum_of(const Json &json) { return {json.at("messages"), json.at("bytes")}; }

}  // namespace

std::string text_of(const RankProfile &rank) {
    Json calls = Json::object(), waits = Json::object(), sizes = Json::array(), protocols = Json::object(), paths = Json::object();
    for (const auto &call : rank.calls) calls[call.name] = {{"calls", call.calls}, {"seconds", call.seconds}, {"waiting", call.waiting}};
    for (size_t i = 0; i < rank.waits.size(); ++i)
        waits[wait_names[i]] = {{"seconds", rank.waits[i].seconds}, {"moving", rank.waits[i].moving}};
    for (const auto &sum : rank.by_size) sizes.push_back(json_of(sum));
    while (!sizes.empty() && sizes.back()["messages"] == 0) sizes.erase(sizes.size() - 1);
    for (size_t i = 0; i < rank.by_protocol.size(); ++i) protocols[protocol_names[i]] = json_of(rank.by_protocol[i]);
    for (const auto &path : rank.by_path) paths[path.path] = json_of(path.sum);
    return Json{{"rank", rank.rank},
                {"host", rank.host},
                {"seconds", rank.seconds},
                {"calls", calls},
                {"waits", waits},
                {"sent",
                 {{"by size class", sizes}, {"by protocol", protocols}, {"by path", paths}, {"largest", rank.largest}, {"peers", rank.peers}}},
                {"unexpected", {{"messages", rank.unexpected}, {"most bytes", rank.most_unexpected_bytes}}}}
        .dump();
}

RankProfile rank_profile(const std::string &text) {
    Json json = Json::parse(text);
    RankProfile rank;
    rank.rank = json.at("rank");
    rank.host = json.at("host");
    rank.seconds = json.at("seconds");
    for (const auto &[name, call] : json.at("calls").items()) rank.calls.push_back({name, call.at("calls"), call.at("seconds"), call.at("waiting")});
    for (size_t i = 0; i < rank.waits.size(); ++i) {
        const Json &wait = json.at("waits").at(wait_names[i]);
        rank.waits[i] = {wait.at("seconds"), wait.at("moving")};
    }
    const Json &sent = json.at("sent");
    for (const Json &sum : sent.at("by size class")) rank.by_size.push_back(sum_of(sum));
    for (size_t i = 0; i < rank.by_protocol.size(); ++i) rank.by_protocol[i] = sum_of(sent.at("by protocol").at(protocol_names[i]));
    for (const auto &[path, sum] : sent.at("by path").items()) rank.by_path.push_back({path, sum_of(sum)});
    rank.largest = sent.at("largest");
    rank.peers = sent.at("peers");
    rank.unexpected = json.at("unexpected").at("messages");
    rank.most_unexpected_bytes = json.at("unexpected").at("most bytes");
    return rank;
}

std::string json_of(const std::string &job, const std::vector<std::string> &texts) {
    Json ranks = Json::array();
    for (const std::string &text : texts) ranks.push_back(Json::parse(text));
    return Json{{"job", job}, {"library", "Lanyard " LANYARD_VERSION}, {"ranks", ranks}}.dump(1) + "\n";
}

}  // namespace lanyard::tool
