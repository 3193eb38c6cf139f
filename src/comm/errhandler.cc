// See errhandler.h.
#include "comm/errhandler.h"

#include <mutex>
#include <utility>

#include "base/abi_constants.h"

namespace lanyard {
namespace {

std::mutex places;  // guards the handler pointers in all objects; rarely locked

Errhandler &make_predefined_errhandler(int abi_value, Errhandler::Action action) {
    auto *handler = new Errhandler;  // never destroyed
    handler->abi_value = abi_value;
    handler->action = action;
    return *handler;
}

}  // namespace

ObjectPool<Errhandler> &errhandler_pool() {
    static auto &pool = *new ObjectPool<Errhandler>;
    return pool;
}

Errhandler &errors_are_fatal() {
    static Errhandler &handler = make_predefined_errhandler(abi::errors_are_fatal, Errhandler::Action::fatal);
    return handler;
}

Errhandler &errors_abort() {
    static Errhandler &handler = make_predefined_errhandler(abi::errors_abort, Errhandler::Action::abort);
    return handler;
}

Errhandler &errors_return() {
    static Errhandler &handler =
        make_predefined_errhandler(abi::errors_return, Errhandler::Action::give_back);
    return handler;
}

void release_errhandler(Errhandler *handler) {
    if (handler && !handler->predefined() && handler->let_go()) errhandler_pool().destroy(handler);
}

void replace_errhandler(Errhandler *&place, Errhandler &handler) {
    if (!handler.predefined()) handler.hold();
    Errhandler *before = &handler;
    {
        std::lock_guard guard(places);
        std::swap(before, place);
    }
    release_errhandler(before);
}

Errhandler &hold_errhandler(Errhandler *const &place) {
    std::lock_guard guard(places);
    if (!place->predefined()) place->hold();
    return *place;
}

}  // namespace lanyard
