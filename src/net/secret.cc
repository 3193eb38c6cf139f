// See secret.h.
#include "net/secret.h"

#include <sodium.h>

namespace lanyard {

namespace {

// Initialises libsodium, which then chooses the fastest code for this processor.
void prepare() {
    [[maybe_unused]] static const int done = sodium_init();
}

}  // namespace

Secret Secret::random() {
    prepare();
    Secret made;
    randombytes_buf(made.key_.data(), made.key_.size());
    return made;
}

bool Secret::parse(const std::string &text, Secret &secret) {
    prepare();
    size_t length = 0;
    const char *end = nullptr;
    int trouble = sodium_hex2bin(secret.key_.data(), secret.key_.size(), text.data(), text.size(), nullptr,
                                 &length, &end);
    return trouble == 0 && length == secret.key_.size() && end == text.data() + text.size();
}

std::string Secret::to_text() const {
    std::string text(2 * key_.size() + 1, 0);
    sodium_bin2hex(text.data(), text.size(), key_.data(), key_.size());
    text.pop_back();
    return text;
}

Proof Secret::prove(const void *data, size_t bytes) const {
    Proof proof;
    crypto_generichash(proof.data(), proof.size(), static_cast<const unsigned char *>(data), bytes,
                       key_.data(), key_.size());
    return proof;
}

Proof digest(const std::string &text) {
    prepare();
    Proof made;
    crypto_generichash(made.data(), made.size(), reinterpret_cast<const unsigned char *>(text.data()),
                       text.size(), nullptr, 0);
    return made;
}

bool equal(const Proof &a, const Proof &b) { return sodium_memcmp(a.data(), b.data(), a.size()) == 0; }

}  // namespace lanyard
