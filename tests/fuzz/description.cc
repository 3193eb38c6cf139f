// See description.h.
#include "fuzz/description.h"

#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace lanyard::fuzz {

namespace {

[[noreturn]] void wrong_word(const std::string &word, const std::string &file) {
    std::fprintf(stderr, "%s: \"%s\" is no word of a description (tests/fuzz/description.h)\n", file.c_str(),
                 word.c_str());
    std::exit(2);
}

// The bytes of one word without its repetition.
std::string bytes_of_word(const std::string &word, const std::string &file) {
    if (word.size() >= 2 && word.front() == '"' && word.back() == '"') return word.substr(1, word.size() - 2);
    char *end = nullptr;
    unsigned long width = std::strtoul(word.c_str(), &end, 10);
    if (*end != ':' || width < 1 || width > 8) wrong_word(word, file);
    uint64_t value = std::strtoull(end + 1, &end, 0);
    if (*end) wrong_word(word, file);
    std::string bytes;
    for (unsigned long i = 0; i < width; ++i) bytes += static_cast<char>(value >> 8 * i & 255);
    return bytes;
}

}  // namespace

std::string bytes_of_description(const std::string &text, const std::string &file) {
    std::string bytes;
    for (size_t at = 0; at < text.size();) {
        if (isspace(static_cast<unsigned char>(text[at]))) {
            ++at;
        } else if (text[at] == '#') {
            at = text.find('\n', at);
        } else {
            size_t end = at;
            for (bool quoted = false;
                 end < text.size() && (quoted || !isspace(static_cast<unsigned char>(text[end]))); ++end)
                if (text[end] == '"') quoted = !quoted;
            std::string word = text.substr(at, end - at);
            size_t star = word.find('*');
            bool repeated = star < word.find('"');
            std::string once = bytes_of_word(repeated ? word.substr(star + 1) : word, file);
            unsigned long times = repeated ? std::strtoul(word.c_str(), nullptr, 10) : 1;
            for (unsigned long i = 0; i < times; ++i) bytes += once;
            at = end;
        }
        if (at == std::string::npos) break;
    }
    return bytes;
}

}  // namespace lanyard::fuzz
