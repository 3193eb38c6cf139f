// See leftovers.h.
#include "api/leftovers.h"

#include <string>

#include "api/message.h"
#include "api/request.h"
#include "base/log.h"
#include "comm/attributes.h"
#include "comm/context.h"
#include "comm/errhandler.h"
#include "comm/info.h"
#include "datatype/definition.h"
#include "datatype/op.h"
#include "runtime/runtime.h"

namespace lanyard {

namespace {

std::string told(size_t number, const char *kind) {
    return std::to_string(number) + " " + kind + (number == 1 ? "" : "s");
}

// Describes the objects of one kind of which the program still has handles, for example "2 datatypes
// ("row")". The name is the first one found; it is omitted if no object has a name. Returns "" if there are
// no such objects.
template <class T, class Counts, class NameOf>
std::string held(ObjectPool<T> &pool, const char *kind, Counts counts, NameOf name_of) {
    size_t number = 0;
    std::string name;
    pool.each([&](T &object) {
        if (object.predefined() || object.handles == 0 || !counts(object)) return;
        ++number;
        if (name.empty()) name = name_of(object);
    });
    if (number == 0) return "";
    return told(number, kind) + (name.empty() ? "" : " (\"" + name + "\")");
}

// Is this a datatype that MPI_Type_create_f90_real or a similar function returned? The library
// caches such datatypes, and the program cannot free them.
bool of_fortran_kind(const Datatype &type) {
    int combiner = type.definition ? type.definition->combiner : abi::combiner_named;
    return combiner == abi::combiner_f90_real || combiner == abi::combiner_f90_complex ||
           combiner == abi::combiner_f90_integer;
}

std::string told(const Request &request) {
    auto number_or = [](int number, int any, const char *one, const char *all) {
        return number == any ? all : one + std::to_string(number);
    };
    auto tag_of = [&](const MatchKey &key) { return number_or(key.tag, any_tag, "tag ", "any tag"); };
    if (request.kind == Request::Kind::send)
        return "a send to rank " + std::to_string(request.send.destination) + " with " + tag_of(request.send);
    if (request.kind == Request::Kind::receive)
        return "a receive from " + number_or(request.receive.rank, any_source, "rank ", "any rank") +
               " with " + tag_of(request.receive);
    return *request.other.name ? request.other.name : "a request of the program";
}

void report_handles(Runtime &ending, const char *call) {
    auto nameless = [](const auto &) { return std::string(); };
    auto every = [](const auto &) { return true; };
    size_t keys = keyvals_in_use();
    std::string all;
    for (const std::string &some :
         {held(ending.universe->comms, "communicator", every,
               [](const Comm &comm) { return comm.name.get(); }),
          held(
              datatype_pool(), "datatype", [](const Datatype &type) { return !of_fortran_kind(type); },
              [](const Datatype &type) { return type.name.get(); }),
          held(op_pool(), "operation", every, nameless), held(info_pool(), "info object", every, nameless),
          held(ending.universe->groups, "group", every, nameless),
          held(errhandler_pool(), "error handler", every, nameless),
          keys > 0 ? told(keys, "attribute key") : std::string()})
        if (!some.empty()) all += (all.empty() ? "" : ", ") + some;
    if (!all.empty()) log(LogLevel::warn, "check", "%s: never freed: %s", call, all.c_str());
}

}  // namespace

void report_leftovers(Runtime &ending, const char *call) {
    Messenger &messenger = *ending.messenger;
    size_t messages = 0;
    std::string first;
    for (Unexpected *message = messenger.unexpected().first(); message;
         message = messenger.unexpected().after(*message)) {
        // messages of the library itself; they may belong to communicators of later sessions
        if (message->context & (collective_bit | creation_bit)) continue;
        if (messages++ > 0) continue;
        first = "from rank " + std::to_string(message->rank) + " with tag " + std::to_string(message->tag) +
                ", " + std::to_string(message->length()) + " bytes";
    }
    if (messages)
        log(LogLevel::warn, "check",
            "%s: %zu message%s sent to this rank, but never received; the first is %s", call, messages,
            messages == 1 ? " was" : "s were", first.c_str());
    size_t taken = 0;
    message_pool().each([&](Message &message) { taken += !message.predefined(); });
    if (taken)
        log(LogLevel::warn, "check",
            "%s: %zu message%s taken by MPI_Mprobe or MPI_Improbe, but never received", call, taken,
            taken == 1 ? " was" : "s were");
    size_t open = 0;
    first.clear();
    request_pool().each([&](Request &request) {
        if (!request.shared && open++ == 0) first = told(request);
    });
    if (open)
        log(LogLevel::warn, "check", "%s: %zu request%s never completed or freed; the first is %s", call,
            open, open == 1 ? " was" : "s were", first.c_str());
    size_t posted = messenger.posted().count();
    if (posted)
        log(LogLevel::warn, "check", "%s: %zu posted receive%s never matched", call, posted,
            posted == 1 ? " was" : "s were");
    report_handles(ending, call);
}

void report_what_is_waited_for(Runtime &ending, const char *call) {
    constexpr uint64_t patience_ns = 1'000'000'000;
    EngineGuard guard(*ending.engine);
    auto nothing_pending = [](const void *messenger) {
        return static_cast<const Messenger *>(messenger)->nothing_pending();
    };
    ending.engine->wait_owned(Condition{nothing_pending, ending.messenger.get()},
                              ending.engine->read_now_ns() + patience_ns);
    size_t open = 0;
    std::string first;
    ending.messenger->each_offered([&](const SendOperation &send) {
        if (send.context & collective_bit || open++ > 0) return;
        first = "to rank " + std::to_string(send.destination) + " with tag " + std::to_string(send.tag) +
                ", " + std::to_string(send.buffer.bytes()) + " bytes";
    });
    if (open)
        log(LogLevel::warn, "check", "%s: waits for %zu send%s that no receive has matched; the first is %s",
            call, open, open == 1 ? "" : "s", first.c_str());
}

}  // namespace lanyard
