// A Secret is the job's secret. It makes proofs, by which a process shows that a message comes from a process
// that has the secret. A proof is a keyed hash (BLAKE2b, by libsodium). Any thread.
// Tested by: tests/unit/net/address_test.cc.
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
    // Reads 64 hexadecimal digits, the form in which the secret travels through the launcher. False if the
    // text has another form.
    static bool parse(const std::string &text, Secret &secret);
    std::string to_text() const;

    // The proof for the `bytes` at `data`. Without the secret, no process can make it.
    Proof prove(const void *data, size_t bytes) const;

private:
    std::array<uint8_t, 32> key_{};
};

// A short name for a text of any length. Any process can compute it.
Proof digest(const std::string &text);
// Compares two proofs. The time that this takes does not reveal how much of a proof is right.
bool equal(const Proof &a, const Proof &b);

}  // namespace lanyard
