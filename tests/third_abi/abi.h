// Describes the ABI of types.h to the functions in doors/functions. This file is written by hand. For an ABI
// that programs use, a generator would write it.
#pragma once

#include <utility>

#include "api/call.h"
#include "api/door.h"
#include "api/handles.h"
#include "doors/standard_values.h"
#include "third_abi/types.h"

namespace third_abi {

// A predefined object: the address of its variable in this ABI, and its handle in the standard's ABI. The
// null handle is the first in each list.
struct Predefined {
    const void *variable;
    int standard;
};

template <class Handle>
struct HandleType;
template <class OfObject, Predefined... all>
struct HandleFacts {
    using Object = OfObject;
    static constexpr Predefined predefined[] = {all...};
};
namespace constants = lanyard::abi;
template <>
struct HandleType<MPI_Comm> : HandleFacts<lanyard::Comm, Predefined{&comm_null, constants::comm_null},
    Predefined{&comm_world, constants::comm_world}, Predefined{&comm_self, constants::comm_self}> {};
template <>
struct HandleType<MPI_Datatype>
    : HandleFacts<lanyard::Datatype, Predefined{&datatype_null, constants::datatype_null},
          Predefined{&type_int, constants::type_int}, Predefined{&type_double, constants::type_double},
          Predefined{&type_byte, constants::type_byte}> {};
template <>
struct HandleType<MPI_Errhandler>
    : HandleFacts<lanyard::Errhandler, Predefined{&errhandler_null, constants::errhandler_null},
          Predefined{&errors_return, constants::errors_return},
          Predefined{&errors_are_fatal, constants::errors_are_fatal}> {};
template <>
struct HandleType<MPI_Group> : HandleFacts<lanyard::Group, Predefined{&group_null, constants::group_null},
    Predefined{&group_empty, constants::group_empty}> {};
template <>
struct HandleType<MPI_Op> : HandleFacts<lanyard::Op, Predefined{&op_null, constants::op_null},
    Predefined{&op_sum, constants::op_sum}, Predefined{&op_max, constants::op_max}> {};
template <>
struct HandleType<MPI_Request>
    : HandleFacts<lanyard::Request, Predefined{&request_null, constants::request_null}> {};
template <>
struct HandleType<MPI_File> : HandleFacts<lanyard::File, Predefined{&file_null, constants::file_null}> {};
template <>
struct HandleType<MPI_Info> : HandleFacts<lanyard::Info, Predefined{&info_null, constants::info_null}> {};
template <>
struct HandleType<MPI_Message>
    : HandleFacts<lanyard::Message, Predefined{&message_null, constants::message_null}> {};
template <>
struct HandleType<MPI_Session>
    : HandleFacts<lanyard::Session, Predefined{&session_null, constants::session_null}> {};
template <>
struct HandleType<MPI_Win> : HandleFacts<lanyard::Win, Predefined{&win_null, constants::win_null}> {};

struct Types {
    using MPI_Aint = third_abi::MPI_Aint;
    using MPI_Offset = third_abi::MPI_Offset;
    using MPI_Count = third_abi::MPI_Count;
    using MPI_T_cb_safety = third_abi::MPI_T_cb_safety;
    using MPI_T_source_order = third_abi::MPI_T_source_order;
    using MPI_Comm = third_abi::MPI_Comm;
    using MPI_Datatype = third_abi::MPI_Datatype;
    using MPI_Errhandler = third_abi::MPI_Errhandler;
    using MPI_File = third_abi::MPI_File;
    using MPI_Group = third_abi::MPI_Group;
    using MPI_Info = third_abi::MPI_Info;
    using MPI_Message = third_abi::MPI_Message;
    using MPI_Op = third_abi::MPI_Op;
    using MPI_Request = third_abi::MPI_Request;
    using MPI_Session = third_abi::MPI_Session;
    using MPI_Win = third_abi::MPI_Win;
    using MPI_T_enum = third_abi::MPI_T_enum;
    using MPI_T_cvar_handle = third_abi::MPI_T_cvar_handle;
    using MPI_T_pvar_handle = third_abi::MPI_T_pvar_handle;
    using MPI_T_pvar_session = third_abi::MPI_T_pvar_session;
    using MPI_T_event_registration = third_abi::MPI_T_event_registration;
    using MPI_T_event_instance = third_abi::MPI_T_event_instance;
    using MPI_Status = third_abi::MPI_Status;
    using MPI_User_function = third_abi::MPI_User_function;
    using MPI_User_function_c = third_abi::MPI_User_function_c;
    using MPI_Grequest_query_function = third_abi::MPI_Grequest_query_function;
    using MPI_Grequest_free_function = third_abi::MPI_Grequest_free_function;
    using MPI_Grequest_cancel_function = third_abi::MPI_Grequest_cancel_function;
    using MPI_Copy_function = third_abi::MPI_Copy_function;
    using MPI_Delete_function = third_abi::MPI_Delete_function;
    using MPI_Comm_copy_attr_function = third_abi::MPI_Comm_copy_attr_function;
    using MPI_Comm_delete_attr_function = third_abi::MPI_Comm_delete_attr_function;
    using MPI_Type_copy_attr_function = third_abi::MPI_Type_copy_attr_function;
    using MPI_Type_delete_attr_function = third_abi::MPI_Type_delete_attr_function;
    using MPI_Win_copy_attr_function = third_abi::MPI_Win_copy_attr_function;
    using MPI_Win_delete_attr_function = third_abi::MPI_Win_delete_attr_function;
    using MPI_Datarep_extent_function = third_abi::MPI_Datarep_extent_function;
    using MPI_Datarep_conversion_function = third_abi::MPI_Datarep_conversion_function;
    using MPI_Datarep_conversion_function_c = third_abi::MPI_Datarep_conversion_function_c;
    using MPI_Comm_errhandler_function = third_abi::MPI_Comm_errhandler_function;
    using MPI_File_errhandler_function = third_abi::MPI_File_errhandler_function;
    using MPI_Win_errhandler_function = third_abi::MPI_Win_errhandler_function;
    using MPI_Session_errhandler_function = third_abi::MPI_Session_errhandler_function;
    using MPI_T_event_cb_function = third_abi::MPI_T_event_cb_function;
    using MPI_T_event_free_cb_function = third_abi::MPI_T_event_free_cb_function;
    using MPI_T_event_dropped_cb_function = third_abi::MPI_T_event_dropped_cb_function;
};

// Translates values of this ABI to the standard's and back. Functions for values that are the same in both
// ABIs are inherited.
struct Values : lanyard::doors::StandardValues {
    static constexpr std::pair<int, int> ranks[] = {
        {any_source, constants::any_source}, {proc_null, constants::proc_null}, {root, constants::root}};
    static constexpr std::pair<int, int> tags[] = {{any_tag, constants::any_tag}};
    static constexpr std::pair<int, int> comparisons[] = {{ident, constants::ident},
        {congruent, constants::congruent}, {similar, constants::similar}, {unequal, constants::unequal}};
    static constexpr std::pair<int, int> keyvals[] = {{tag_ub, constants::tag_ub}};
    static constexpr std::pair<int, int> combiners[] = {{combiner_vector, constants::combiner_vector}};

    template <size_t size>
    static int in(const std::pair<int, int> (&all)[size], int value) {
        for (auto [here, standard] : all)
            if (here == value) return standard;
        return value;
    }
    template <size_t size>
    static int out(const std::pair<int, int> (&all)[size], int value) {
        for (auto [here, standard] : all)
            if (standard == value) return here;
        return value;
    }
    static int rank_in(int value) { return in(ranks, value); }
    static int rank_out(int value) { return out(ranks, value); }
    static int tag_in(int value) { return in(tags, value); }
    static int tag_out(int value) { return out(tags, value); }
    static int comparison_out(int value) { return out(comparisons, value); }
    static int keyval_in(int value) { return in(keyvals, value); }
    static int keyval_out(int value) { return out(keyvals, value); }
    static int combiner_out(int value) { return out(combiners, value); }
    // The number of an error class is the standard's number plus 200.
    static int error_class_out(int value) { return value == 0 ? 0 : value + 200; }
    static int error_code_in(int code) { return code >= 200 && code < 400 ? code - 200 : code; }
    static int error_code_out(int code) { return code > 0 && code < 200 ? code + 200 : code; }

    template <class Buffer>
    static Buffer *buffer_in(Buffer *buffer) {
        return buffer == in_place ? reinterpret_cast<Buffer *>(constants::in_place) : buffer;
    }
    template <class Status>
    static Status *status_in(Status *status) {
        return status == status_ignore ? nullptr : status;
    }
    static void count_from_program(const MPI_Status &given, lanyard::Status &status) {
        status.set_count(static_cast<int64_t>(given.count));
        status.cancelled = given.cancelled;
    }
    static void count_to_program(const lanyard::Status &status, MPI_Status &place) {
        place.count = static_cast<size_t>(status.count());
        place.cancelled = status.cancelled;
    }

    static constexpr size_t max_object_name = third_abi::max_object_name;
};

struct Abi : Types, Values {
    static constexpr bool of_the_standard = false;
    static constexpr const char *library = "third-abi";
    static constexpr const char *title = "an ABI made for a test";
    static constexpr const char *other_header = "another mpi.h";
    static constexpr const char *advice = "use third_abi/types.h";
    static const lanyard::Door door;

    template <class Handle>
    using ObjectOf = typename HandleType<Handle>::Object;

    // object_of() returns an address as an object only if it belongs to a pool of objects. So an invalid
    // handle is never dereferenced.
    template <class Handle>
    static ObjectOf<Handle> *object_behind(Handle handle) {
        using Object = ObjectOf<Handle>;
        for (const Predefined &each : HandleType<Handle>::predefined)
            if (each.variable == handle)
                return reinterpret_cast<Object *>(lanyard_handles.predefined[each.standard]);
        auto bits = reinterpret_cast<uintptr_t>(handle);
        return bits < lanyard::predefined_handles ? nullptr : lanyard::object_of<Object>(bits);
    }
    template <class Handle>
    static Handle handle_for(const ObjectOf<Handle> *object) {
        auto constant = lanyard::handle_of(object);
        for (const Predefined &each : HandleType<Handle>::predefined)
            if (static_cast<uintptr_t>(each.standard) == constant)
                return static_cast<Handle>(const_cast<void *>(each.variable));
        return reinterpret_cast<Handle>(const_cast<ObjectOf<Handle> *>(object));
    }
    template <class Handle>
    static bool is_null(Handle handle) {
        return handle == HandleType<Handle>::predefined[0].variable;
    }
    template <class Handle>
    static bool is_foreign(Handle handle) {
        auto bits = reinterpret_cast<uintptr_t>(handle);
        return bits >= 0x20 && bits < lanyard::predefined_handles;
    }
    template <class Handle>
    static uint64_t shown_bits(Handle handle) {
        for (const Predefined &each : HandleType<Handle>::predefined)
            if (each.variable == handle) return static_cast<uint64_t>(each.standard);
        return reinterpret_cast<uint64_t>(handle);
    }

    [[gnu::cold]] static int fail(lanyard::Error error, lanyard::RaiseOn on, const char *function,
                                  std::initializer_list<lanyard::Argument> arguments);
};

}  // namespace third_abi
