// See greeting.h.
#include "path/tcp/greeting.h"

#include <cstddef>
#include <cstring>

namespace lanyard {

namespace {

Proof proof_of(const Greeting &greeting, const WireIdentity &identity, const Greeting *answered) {
    constexpr size_t before_proof = offsetof(Greeting, proof);
    uint8_t text[before_proof + sizeof(Proof)] = {};
    if (answered) std::memcpy(text, answered->proof.data(), sizeof(Proof));
    std::memcpy(text + sizeof(Proof), &greeting, before_proof);
    return identity.secret.prove(text, sizeof text);
}

}  // namespace

void seal(Greeting &greeting, const WireIdentity &identity, const Greeting *answered) {
    greeting.magic = greeting_magic;
    greeting.version = wire_version;
    std::memcpy(greeting.job, identity.job, sizeof greeting.job);
    greeting.from = identity.own.number;
    greeting.from_job = identity.own.job;
    greeting.settings = identity.settings;
    greeting.proof = proof_of(greeting, identity, answered);
}

std::string doubt(const Greeting &greeting, const WireIdentity &identity, const Greeting *answered) {
    if (greeting.magic == __builtin_bswap32(greeting_magic))
        return "it comes from a host of the other byte order, which Lanyard does not talk to";
    if (greeting.magic != greeting_magic) return "it is not Lanyard's";
    if (greeting.version != wire_version)
        return "it speaks version " + std::to_string(greeting.version) +
               " of what Lanyard says on connections, and this process version " +
               std::to_string(wire_version) + "; all hosts of a job need the same Lanyard";
    if (std::memcmp(greeting.job, identity.job, sizeof greeting.job) != 0) return "it belongs to another job";
    if (ProcessName{greeting.to_job, greeting.to} != identity.own) return "it is meant for another process";
    if (!equal(greeting.proof, proof_of(greeting, identity, answered)))
        return "it does not know the secret of the job";
    return {};
}

const char *difference(const Greeting &greeting, const WireIdentity &identity) {
    return greeting.settings == identity.settings
               ? nullptr
               : "LANYARD_CHECKSUM differs between the processes; set it alike for all";
}

}  // namespace lanyard
