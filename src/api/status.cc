// Defines the typed functions (types.h) that read and set fields of a status (MPI-5.0 sections 3.2.5 and
// 13.3). The functions that read and set counts are in pack.cc.
// Tested by: tests/mpi/pt2pt/status.cc.
#include "api/generated/core.h"

namespace lanyard {

extern "C" {

Error lanyard_status_get_source(const Status &status, int *source) {
    *source = status.source;
    return {};
}
Error lanyard_status_get_tag(const Status &status, int *tag) {
    *tag = status.tag;
    return {};
}
Error lanyard_status_get_error(const Status &status, int *err) {
    *err = status.error;
    return {};
}
Error lanyard_status_set_source(Status &status, int source) {
    status.source = source;
    return {};
}
Error lanyard_status_set_tag(Status &status, int tag) {
    status.tag = tag;
    return {};
}
Error lanyard_status_set_error(Status &status, int err) {
    status.error = err;
    return {};
}
Error lanyard_status_set_cancelled(Status &status, int flag) {
    status.cancelled = flag != 0;
    return {};
}
Error lanyard_test_cancelled(const Status &status, int *flag) {
    *flag = status.cancelled != 0;
    return {};
}

}  // extern "C"

}  // namespace lanyard
