// What two processes say to each other on a new connection, before any frame:
//
//     dialer                                acceptor
//       hello    (epoch)          ------->    whose job, whose secret, newer than what I have?  closes an older connection
//                                 <-------    welcome  (I expect envelope n)
//       confirm  (I expect m)     ------->    from here on frames, both ways
//
// or, instead of welcome, `behind (epoch)`: the dialer tries again with a greater one. That is also the answer to a hello whose settings
// differ: the dialer sees the other's settings in it, and both give up.
//
// A connection that is only to be measured (meter.h) begins with `measure` instead of hello, and is welcomed without regard to epochs.
//
// Every greeting has this one form of 80 bytes in the byte order of its host. `proof` is the keyed hash, with the job's secret, of the
// greeting without its proof, preceded by the proof of the greeting it answers; so nobody without the secret can say anything, an answer
// belongs to one question, and what is said again later is not believed: a hello must have a greater epoch than any before it, and a
// confirm answers the nonce in a welcome.
#pragma once

#include <cstdint>

#include <string>

#include "base/processes.h"
#include "net/secret.h"

namespace lanyard {

enum class GreetingKind : uint16_t { hello = 1, welcome, confirm, behind, measure };

struct Greeting {
    uint32_t magic;
    uint16_t version;  // of what is said on connections
    GreetingKind kind;
    uint8_t job[16];
    uint32_t from, to;  // numbers of processes, of the jobs below
    uint32_t settings;  // that both sides must have alike, by bits
    uint32_t epoch;
    uint64_t expects;  // welcome, confirm: the number of the next envelope
    uint64_t nonce;
    uint32_t from_job, to_job;
    Proof proof;
};
static_assert(sizeof(Greeting) == 80);

constexpr uint32_t greeting_magic = 0x4c4e5944;
constexpr uint16_t wire_version = 2;
constexpr uint32_t checksum_setting = 1;  // Greeting::settings: LANYARD_CHECKSUM=on

// Who this process is to others.
struct WireIdentity {
    uint8_t job[16] = {};
    ProcessName own;
    uint32_t settings = 0;
    Secret secret;
};

inline ProcessName sender_of(const Greeting &greeting) { return {greeting.from_job, greeting.from}; }
inline void address(Greeting &greeting, ProcessName to) {
    greeting.to_job = to.job;
    greeting.to = to.number;
}

inline bool speaks_another_version(const Greeting &greeting) { return greeting.magic == greeting_magic && greeting.version != wire_version; }

// Fills in what is the same in all greetings, and the proof. `answered` is the greeting that this one answers, or nullptr.
void seal(Greeting &greeting, const WireIdentity &identity, const Greeting *answered);
// Why a greeting is not believed; "" when it is.
std::string doubt(const Greeting &greeting, const WireIdentity &identity, const Greeting *answered);
// Why the process that has sent it, and is believed, can have no connection with this one; nullptr when it can.
const char *difference(const Greeting &greeting, const WireIdentity &identity);

}  // namespace lanyard
