// Writes reports as JSON. Bytes of a text that are not UTF-8 are replaced. Only json.cc includes the JSON
// library, because that is slow to compile.
// Tested by: tests/command/test_lanyard.py.
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

// The JSON text, with an indentation of 2 and a newline at the end.
std::string json_text(const JsonObject &object);
std::string json_text(const JsonList &list);

}  // namespace lanyard::tools
