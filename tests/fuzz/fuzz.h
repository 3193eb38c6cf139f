// Contains what the fuzz targets share. A target is one file with LLVMFuzzerTestOneInput(). This function
// feeds one parser with the bytes of an input, and calls must() for each condition that must hold for all
// inputs. The target is built with clang's libFuzzer, or with the plain driver (driver.cc), which runs the
// stored corpus and then mutations of it. Single-threaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

namespace lanyard::fuzz {

// Ends the process if something does not hold. The driver of the target then reports the input.
void must(bool holds, const char *what);
// Ends the process unless `text` is one line of printable characters that is not empty.
void must_be_sentence(std::string_view text);

// Takes values from the front of an input, and zeros when it is used up.
class Input {
public:
    Input(const uint8_t *data, size_t size) : rest_(reinterpret_cast<const char *>(data), size) {}

    bool empty() const { return rest_.empty(); }
    // Lowest byte first.
    uint64_t number(size_t bytes) {
        uint64_t value = 0;
        std::string_view taken = text(bytes);
        for (size_t i = 0; i < taken.size(); ++i) value |= uint64_t{static_cast<uint8_t>(taken[i])} << 8 * i;
        return value;
    }
    std::string_view text(size_t bytes) {
        std::string_view taken = rest_.substr(0, bytes);
        rest_.remove_prefix(taken.size());
        return taken;
    }
    std::string_view rest() { return text(rest_.size()); }
    std::string_view line() {
        size_t end = rest_.find('\n');
        std::string_view taken = text(end);
        text(1);
        return taken;
    }

private:
    std::string_view rest_;
};

}  // namespace lanyard::fuzz
