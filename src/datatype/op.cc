// Implements operation objects and reductions, and states on which datatypes operations are allowed (op.h).
#include "datatype/op.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/abi_constants.h"
#include "datatype/cursor.h"
#include "datatype/kernels.h"

namespace lanyard {

namespace {

struct Entry {
    int value;
    const char *name;
};

constexpr Entry entries[] = {
    {abi::op_sum, "MPI_SUM"},         {abi::op_min, "MPI_MIN"},       {abi::op_max, "MPI_MAX"},
    {abi::op_prod, "MPI_PROD"},       {abi::op_band, "MPI_BAND"},     {abi::op_bor, "MPI_BOR"},
    {abi::op_bxor, "MPI_BXOR"},       {abi::op_land, "MPI_LAND"},     {abi::op_lor, "MPI_LOR"},
    {abi::op_lxor, "MPI_LXOR"},       {abi::op_minloc, "MPI_MINLOC"}, {abi::op_maxloc, "MPI_MAXLOC"},
    {abi::op_replace, "MPI_REPLACE"}, {abi::op_no_op, "MPI_NO_OP"},
};

constexpr int first_value = 0x20, values = 0x20;

struct Table {
    std::array<Op, std::size(entries)> ops;
    std::array<Op *, values> by_value{};

    Table() {
        for (size_t i = 0; i < ops.size(); ++i) {
            ops[i].abi_value = entries[i].value;
            ops[i].commutative = entries[i].value != abi::op_replace;
            by_value[static_cast<size_t>(entries[i].value - first_value)] = &ops[i];
        }
    }
};

std::string name_of(const Op &op) {
    for (const Entry &entry : entries)
        if (entry.value == op.abi_value) return entry.name;
    return "the operation";
}

// For the message of an error: the datatypes on which a predefined operation is defined.
const char *meant_for(int op_value) {
    switch (op_value) {
    case abi::op_sum:
    case abi::op_prod: return "integers, floating-point and complex numbers";
    case abi::op_min:
    case abi::op_max: return "integers and floating-point numbers";
    case abi::op_band:
    case abi::op_bor:
    case abi::op_bxor: return "integers and MPI_BYTE";
    case abi::op_land:
    case abi::op_lor:
    case abi::op_lxor: return "C integers and logicals";
    }
    return "pairs of a value and an index, such as MPI_DOUBLE_INT";
}

bool only_one_sided(const Op &op) { return op.abi_value == abi::op_replace || op.abi_value == abi::op_no_op; }

}  // namespace

ObjectPool<Op> &op_pool() {
    static ObjectPool<Op> &pool = *new ObjectPool<Op>;
    return pool;
}

Op *predefined_op(int abi_value) {
    static Table &table = *new Table;
    if (abi_value < first_value || abi_value >= first_value + values) return nullptr;
    return table.by_value[static_cast<size_t>(abi_value - first_value)];
}

void release(Op &op) {
    if (!op.let_go()) return;
    LANYARD_MUST(!op.predefined());
    op_pool().destroy(&op);
}

bool accepted_on(const Op &op, const Datatype &datatype) {
    if (!op.predefined() || !datatype.basic) return false;
    return (predefined::accepted_operations(datatype.basic->value) &
            predefined::operation_bit(op.abi_value)) != 0;
}

Error refuse_op(const Op &op, const Datatype &datatype, bool one_sided) {
    std::string name = name_of(op);
    if (only_one_sided(op)) {
        if (one_sided) return {};
        return Error(ErrorClass::op,
                     name + " is for one-sided communication; it cannot be used in a reduction");
    }
    if (!datatype.basic)
        return Error(ErrorClass::op, name +
                                         " works on predefined datatypes, and this one is derived; make an "
                                         "operation with MPI_Op_create");
    std::string type = datatype.name.get();
    if (!datatype.supported)
        return Error(ErrorClass::type, "this library lacks the optional datatype " + type);
    return Error(ErrorClass::op, name + " is not defined on " + (type.empty() ? "this datatype" : type) +
                                     "; it is for " + meant_for(op.abi_value));
}

void reduce(const Op &op, const void *in, void *inout, int64_t count, const Datatype &datatype) {
    if (count <= 0) return;
    if (op.function) {
        // A function that takes an int as its count is called several times if `count` is above 2^30.
        int64_t most = op.large_count ? count : int64_t{1} << 30;
        for (int64_t done = 0; done < count; done += most) {
            int64_t offset = done * datatype.extent;
            op.call(op, static_cast<const char *>(in) + offset, static_cast<char *>(inout) + offset,
                    std::min(most, count - done), datatype);
        }
        return;
    }
    if (op.abi_value == abi::op_no_op) return;
    if (op.abi_value == abi::op_replace) {
        auto *source = const_cast<std::byte *>(static_cast<const std::byte *>(in));
        copy({source, count, &datatype}, {static_cast<std::byte *>(inout), count, &datatype});
        return;
    }
    ReductionKernel kernel = datatype.basic ? reduction_kernel(op.abi_value, *datatype.basic) : nullptr;
    LANYARD_MUST(kernel);
    kernel(in, inout, count);
}

}  // namespace lanyard
