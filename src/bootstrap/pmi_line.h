// A PmiLine is one line of PMI-1, such as "cmd=get kvsname=k key=a\n". A line consists of words name=value,
// separated by spaces, in any order. A value ends at the next space. Only the values of the names in
// `rest_of_line` extend to the end of the line. Client and launcher use this class.
// Tested by: tests/fuzz/pmi_server.cc, tests/fuzz/pmi_client.cc.
#pragma once

#include <charconv>
#include <string>
#include <string_view>

namespace lanyard {

class PmiLine {
public:
    explicit PmiLine(std::string_view line) : line_(line) {
        while (!line_.empty() && (line_.back() == '\n' || line_.back() == '\r')) line_.remove_suffix(1);
    }

    // The value of `name`, or `otherwise` if the line does not contain this name.
    std::string_view value(std::string_view name, std::string_view otherwise = {}) const {
        for (size_t at = 0; at < line_.size();) {
            size_t end = line_.find(' ', at);
            if (end == std::string_view::npos) end = line_.size();
            std::string_view word = line_.substr(at, end - at);
            if (word.size() > name.size() && word.starts_with(name) && word[name.size()] == '=') {
                bool rest_of_line = name == "value" || name == "msg" || name == "error_msg";
                return rest_of_line ? line_.substr(at + name.size() + 1) : word.substr(name.size() + 1);
            }
            at = end + 1;
        }
        return otherwise;
    }
    int number(std::string_view name, int otherwise) const {
        std::string_view text = value(name);
        int number = otherwise;
        auto [end, trouble] = std::from_chars(text.data(), text.data() + text.size(), number);
        return trouble == std::errc{} && end == text.data() + text.size() ? number : otherwise;
    }
    std::string_view command() const { return value("cmd"); }
    std::string_view text() const { return line_; }

private:
    std::string_view line_;
};

}  // namespace lanyard
