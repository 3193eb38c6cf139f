// The types of an ABI made for a test. They differ from those of the other two ABIs as much as possible. A
// predefined handle is the address of its own variable, which is not an object of the library. A status is 24
// bytes long and begins with the count, as a 64-bit number.
#pragma once

#include <cstddef>
#include <cstdint>

namespace third_abi {

using MPI_Aint = intptr_t;
using MPI_Offset = int64_t;
using MPI_Count = int64_t;
enum MPI_T_cb_safety : int {};
enum MPI_T_source_order : int {};

// The types of the variables that a program declares for predefined objects.
struct CommVariable { char room[512]; };
struct DatatypeVariable { char room[512]; };
struct ErrhandlerVariable { char room[1024]; };
struct FileVariable { char room[1536]; };
struct GroupVariable { char room[256]; };
struct InfoVariable { char room[256]; };
struct MessageVariable { char room[256]; };
struct OpVariable { char room[2048]; };
struct RequestVariable { char room[256]; };
struct SessionVariable { char room[512]; };
struct WinVariable { char room[512]; };
using MPI_Comm = CommVariable *;
using MPI_Datatype = DatatypeVariable *;
using MPI_Errhandler = ErrhandlerVariable *;
using MPI_File = FileVariable *;
using MPI_Group = GroupVariable *;
using MPI_Info = InfoVariable *;
using MPI_Message = MessageVariable *;
using MPI_Op = OpVariable *;
using MPI_Request = RequestVariable *;
using MPI_Session = SessionVariable *;
using MPI_Win = WinVariable *;
using MPI_T_enum = struct ToolEnumeration *;
using MPI_T_cvar_handle = struct ToolCvar *;
using MPI_T_pvar_handle = struct ToolPvar *;
using MPI_T_pvar_session = struct ToolSession *;
using MPI_T_event_registration = struct ToolRegistration *;
using MPI_T_event_instance = struct ToolEvent *;

struct MPI_Status {
    size_t count;
    int cancelled;
    int MPI_ERROR;
    int MPI_TAG;
    int MPI_SOURCE;
};
static_assert(sizeof(MPI_Status) == 24);

using MPI_User_function = void(void *, void *, int *, MPI_Datatype *);
using MPI_User_function_c = void(void *, void *, MPI_Count *, MPI_Datatype *);
using MPI_Grequest_query_function = int(void *, MPI_Status *);
using MPI_Grequest_free_function = int(void *);
using MPI_Grequest_cancel_function = int(void *, int);
using MPI_Comm_copy_attr_function = int(MPI_Comm, int, void *, void *, void *, int *);
using MPI_Comm_delete_attr_function = int(MPI_Comm, int, void *, void *);
using MPI_Copy_function = MPI_Comm_copy_attr_function;
using MPI_Delete_function = MPI_Comm_delete_attr_function;
using MPI_Type_copy_attr_function = int(MPI_Datatype, int, void *, void *, void *, int *);
using MPI_Type_delete_attr_function = int(MPI_Datatype, int, void *, void *);
using MPI_Win_copy_attr_function = int(MPI_Win, int, void *, void *, void *, int *);
using MPI_Win_delete_attr_function = int(MPI_Win, int, void *, void *);
using MPI_Datarep_extent_function = int(MPI_Datatype, MPI_Aint *, void *);
using MPI_Datarep_conversion_function = int(void *, MPI_Datatype, int, void *, MPI_Offset, void *);
using MPI_Datarep_conversion_function_c = int(void *, MPI_Datatype, MPI_Count, void *, MPI_Offset, void *);
using MPI_Comm_errhandler_function = void(MPI_Comm *, int *, ...);
using MPI_File_errhandler_function = void(MPI_File *, int *, ...);
using MPI_Win_errhandler_function = void(MPI_Win *, int *, ...);
using MPI_Session_errhandler_function = void(MPI_Session *, int *, ...);
using MPI_T_event_cb_function = void(MPI_T_event_instance, MPI_T_event_registration, MPI_T_cb_safety, void *);
using MPI_T_event_free_cb_function = void(MPI_T_event_registration, MPI_T_cb_safety, void *);
using MPI_T_event_dropped_cb_function = void(
    MPI_Count, MPI_T_event_registration, int, MPI_T_cb_safety, void *);

// Some of the predefined objects of this ABI (door.cc).
extern CommVariable comm_null, comm_world, comm_self;
extern DatatypeVariable datatype_null, type_int, type_double, type_byte;
extern ErrhandlerVariable errhandler_null, errors_return, errors_are_fatal;
extern GroupVariable group_null, group_empty;
extern OpVariable op_null, op_sum, op_max;
extern RequestVariable request_null;
extern FileVariable file_null;
extern InfoVariable info_null;
extern MessageVariable message_null;
extern SessionVariable session_null;
extern WinVariable win_null;

// Some of the numbers of this ABI. None has the value of the standard's ABI.
constexpr int any_source = -1, proc_null = -2, root = -4, any_tag = -1, undefined = -32766;
constexpr int ident = 10, congruent = 11, similar = 12, unequal = 13, tag_ub = 501;
constexpr int combiner_vector = 77, err_rank = 206, err_count = 202, err_comm = 205, err_type = 203,
              err_truncate = 215;
constexpr int max_object_name = 24;
inline void *const in_place = reinterpret_cast<void *>(77);
inline MPI_Status *const status_ignore = reinterpret_cast<MPI_Status *>(78);

}  // namespace third_abi
