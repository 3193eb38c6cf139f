// The job's secret, and proofs made with it: a keyed hash (BLAKE2b, by libsodium). Any thread.
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
    // Reads 64 hexadecimal digits, the form in which it travels through the launcher. False if the text is
    // something else.
    static bool parse(const std::string &text, Secret &secret);
    std::string to_text() const;

    // The proof for `bytes` at `data`. It cannot be made without the secret.
    Proof prove(const void *data, size_t bytes) const;

private:
    std::array<uint8_t, 32> key_{};
};

// A short name for a text of any length. It is not secret.
Proof digest(const std::string &text);
// Takes a time that does not reveal how much of a proof is right.
bool equal(const Proof &a, const Proof &b);

}  // namespace lanyard
