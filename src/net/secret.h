// The job's secret and what is proven with it: a keyed hash (BLAKE2b, by libsodium).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace lanyard {

using Proof = std::array<uint8_t, 16>;

class Secret {
public:
    static Secret random();
    // 64 hexadecimal digits, as it travels through the launcher. False when the text is something else.
    static bool parse(const std::string &text, Secret &secret);
    std::string to_text() const;

    // Of `bytes` at `data`; nobody without the secret can make it.
    Proof prove(const void *data, size_t bytes) const;

private:
    std::array<uint8_t, 32> key_{};
};

// A short name for a text of any length; no secret.
Proof digest(const std::string &text);
// In a time that does not tell how much of it is right.
bool equal(const Proof &a, const Proof &b);

}  // namespace lanyard
