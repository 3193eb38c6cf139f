// Shows a failed call and passes its error to the error handler. Entry points call these functions only when
// something is wrong.
#include "api/call.h"

#include <cstdio>

#include "api/generated/handle_names.h"
#include "api/handles.h"
#include "comm/comm.h"
#include "datatype/datatype.h"

namespace lanyard {

namespace {

constexpr size_t longest_text_shown = 64;

std::string hexadecimal(int64_t bits) {
    char text[24];
    snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(bits));
    return text;
}

std::string quoted(const char *text) {
    if (!text) return "NULL";
    std::string result = "\"";
    for (size_t i = 0; text[i]; ++i) {
        if (i == longest_text_shown) return result + "...\"";
        result += text[i] >= ' ' ? text[i] : '?';
    }
    return result + '"';
}

// The name of the predefined handle, or the name that the object has; the bits of the handle if it has
// neither name.
std::string handle_text(int null_handle, int64_t bits) {
    const char *known = bits >= 0 && bits < 0x1000 ? predefined_handle_name(static_cast<int>(bits)) : nullptr;
    if (known) return known;
    auto handle = static_cast<uintptr_t>(bits);
    std::string name;
    if (null_handle == abi::comm_null) {
        if (Comm *comm = object_of<Comm>(handle)) name = comm->name.get();
    } else if (null_handle == abi::datatype_null) {
        if (Datatype *datatype = object_of<Datatype>(handle)) name = datatype->name.get();
    }
    return name.empty() ? hexadecimal(bits) : quoted(name.c_str());
}

std::string rank_text(int64_t rank) {
    switch (rank) {
    case abi::any_source: return "MPI_ANY_SOURCE";
    case abi::proc_null: return "MPI_PROC_NULL";
    case abi::root: return "MPI_ROOT";
    case abi::undefined: return "MPI_UNDEFINED";
    default: return std::to_string(rank);
    }
}

std::string value_text(const Argument &argument) {
    switch (argument.form) {
        case Argument::Form::number:
            return argument.number == abi::undefined ? "MPI_UNDEFINED" : std::to_string(argument.number);
        case Argument::Form::rank:
            return rank_text(argument.number);
        case Argument::Form::tag:
            return argument.number == abi::any_tag ? "MPI_ANY_TAG" : std::to_string(argument.number);
        case Argument::Form::pointer:
            return argument.number == 0 ? "NULL" : hexadecimal(argument.number);
        case Argument::Form::buffer:
            if (argument.number == static_cast<int64_t>(abi::in_place)) return "MPI_IN_PLACE";
            return argument.number == 0 ? "NULL" : hexadecimal(argument.number);
        case Argument::Form::text:
            return quoted(reinterpret_cast<const char *>(argument.number));
        case Argument::Form::handle:
            return handle_text(argument.object_kind, argument.number);
    }
    return "?";
}

}  // namespace

const char *predefined_handle_name(int abi_value) {
    for (const HandleName &handle : handle_names)
        if (handle.value == abi_value) return handle.name;
    return nullptr;
}

std::string Call::text() const {
    std::string result = std::string(function) + "(";
    for (const Argument &argument : arguments) {
        if (result.back() != '(') result += ", ";
        result += std::string(argument.name) + "=" + value_text(argument);
    }
    return result + ")";
}

int fail(Error error, RaiseOn on, const char *function, std::initializer_list<Argument> arguments) {
    if (on.kind != RaiseOn::Kind::none) return raise(error, on, Call{function, arguments});
    int code = error.take().code;
    return code <= static_cast<int>(ErrorClass::abi) ? on.bad_argument : code;
}

}  // namespace lanyard
