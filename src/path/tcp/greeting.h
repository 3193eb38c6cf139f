// Two processes exchange these greetings on a new connection, before any frame:
//
//     dialer                                acceptor
//       hello    (epoch)          ------->    checks job, secret and epoch
//                                             closes an older connection
//                                 <-------    welcome  (I expect envelope n)
//       confirm  (I expect m)     ------->
//       frames                    <------>    frames
//
// Instead of welcome, the acceptor may send `behind (epoch)`: the dialer tries again with a greater epoch.
// `behind` is also the answer to a hello or measure whose settings differ. It shows the acceptor's settings
// to the dialer. After a hello, both sides then give up, unless they have been connected before
// (LinkKeeper::unfit). A greeting of another version is answered by a `behind` without proof
// (Connector::refuse_version).
//
// A connection that is only to be measured (meter.h) begins with `measure` instead of hello, and is welcomed
// without regard to epochs.
//
// Every greeting is a Greeting (below) of 80 bytes, in the byte order of the host that sends it. `proof` is a
// hash with the job's secret as key. The hash covers two parts: the proof of the greeting that is answered
// (zeros if there is none), and this greeting without its proof. A process without the secret can therefore
// send no valid greeting, and an answer is valid only for the greeting that it answers. A hello or confirm
// that a stranger repeats makes no connection. A hello needs a greater epoch than earlier attempts
// (connector.h; it also has a rule for equal epochs), and a confirm is valid only for the random nonce in one
// welcome. A stranger may repeat a `measure` (meter.h).
// Tested by: tests/sim/strangers_test.cc, tests/fuzz/handshake.cc.
#pragma once

#include <cstdint>

#include <string>

#include "base/processes.h"
#include "net/secret.h"

namespace lanyard {

enum class GreetingKind : uint16_t { hello = 1, welcome, confirm, behind, measure };

struct Greeting {
    uint32_t magic;
    uint16_t version;  // of the protocol on connections
    GreetingKind kind;
    uint8_t job[16];
    uint32_t from, to;  // numbers of processes within from_job and to_job
    uint32_t settings;  // one bit for each setting that must be the same on both sides
    uint32_t epoch;
    uint64_t expects;  // welcome, confirm: the number of the next envelope that the sender expects
    uint64_t nonce;
    uint32_t from_job, to_job;
    Proof proof;
};
static_assert(sizeof(Greeting) == 80);

constexpr uint32_t greeting_magic = 0x4c4e5944;
constexpr uint16_t wire_version = 3;
constexpr uint32_t checksum_setting = 1;  // Greeting::settings: LANYARD_CHECKSUM=on

// How this process identifies itself to others.
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

inline bool speaks_another_version(const Greeting &greeting) {
    return greeting.magic == greeting_magic && greeting.version != wire_version;
}

// Sets the fields that are the same in all greetings, and the proof. The other fields must have been set,
// because the proof covers them. `answered` is the greeting that this one answers, or nullptr.
void seal(Greeting &greeting, const WireIdentity &identity, const Greeting *answered);
// Returns why a greeting is not accepted, or "" if it is.
std::string doubt(const Greeting &greeting, const WireIdentity &identity, const Greeting *answered);
// For an accepted greeting: returns why its sender and this process cannot be connected, or nullptr if they
// can.
const char *difference(const Greeting &greeting, const WireIdentity &identity);

}  // namespace lanyard
