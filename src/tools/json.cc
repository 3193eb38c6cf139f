// See json.h.
#include "tools/json.h"

#include <nlohmann/json.hpp>

namespace lanyard::tools {

namespace {

using Json = nlohmann::json;

Json convert(const JsonList &list);

Json convert(const JsonObject &object) {
    Json made = Json::object();
    for (const auto &[name, value] : object.members) {
        if (const auto *list = std::get_if<JsonList>(&value)) made[name] = convert(*list);
        else if (const auto *text = std::get_if<std::string>(&value)) made[name] = *text;
        else if (const auto *number = std::get_if<int64_t>(&value)) made[name] = *number;
        else if (const auto *fraction = std::get_if<double>(&value)) made[name] = *fraction;
        else made[name] = std::get<bool>(value);
    }
    return made;
}

Json convert(const JsonList &list) {
    Json made = Json::array();
    for (const JsonObject &object : list) made.push_back(convert(object));
    return made;
}

}  // namespace

std::string json_text(const JsonObject &object) { return convert(object).dump(2) + "\n"; }
std::string json_text(const JsonList &list) { return convert(list).dump(2) + "\n"; }

}  // namespace lanyard::tools
