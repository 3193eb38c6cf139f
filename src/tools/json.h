// Reports as JSON. Only json.cc instantiates the JSON library, which is slow to compile.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace lanyard::tools {

struct JsonObject;
using JsonList = std::vector<JsonObject>;
using JsonValue = std::variant<std::string, int64_t, double, bool, JsonList>;
struct JsonObject {
    std::vector<std::pair<std::string, JsonValue>> members;
};

std::string json_text(const JsonObject &object);  // indented by 2, ends with a newline
std::string json_text(const JsonList &list);

}  // namespace lanyard::tools
