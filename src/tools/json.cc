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

// The value of a setting, or the name of a file, need not be UTF-8.
std::string text_of(const Json &json) {
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string json_text(const JsonObject &object) { return text_of(convert(object)); }
std::string json_text(const JsonList &list) { return text_of(convert(list)); }

}  // namespace lanyard::tools
