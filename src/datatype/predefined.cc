// Contains the table of predefined datatypes, and the pool of all other datatypes (predefined.h, datatype.h).
// The table and the pool are never destroyed, because other threads and destructors may release objects until
// the end of the process.
#include "datatype/predefined.h"

#include <array>
#include <utility>

#include "base/abi_constants.h"
#include "datatype/construct.h"
#include "datatype/element.h"
#include "datatype/layout.h"

namespace lanyard {

namespace {

constexpr int first_type = 0x200, type_values = 0x100;

struct TypeTable {
    std::array<Datatype, std::size(predefined::types)> datatypes;
    std::array<Datatype *, type_values> by_value{};

    TypeTable() {
        for (size_t i = 0; i < datatypes.size(); ++i) {
            describe_basic(datatypes[i], predefined::types[i]);
            by_value[static_cast<size_t>(predefined::types[i].value - first_type)] = &datatypes[i];
        }
    }
};

}  // namespace

void describe_basic(Datatype &datatype, const predefined::Type &type) {
    bool pair = type.index != predefined::Element::none;
    bool padded = type.size != type.extent;
    datatype.abi_value = type.value;
    datatype.size = type.size;
    datatype.extent = type.extent;
    datatype.elements = pair ? 2 : 1;
    datatype.alignment = type.alignment;
    datatype.committed = true;
    datatype.supported = element_supported(type.element);
    datatype.basic = &type;
    datatype.reductions = datatype.supported ? predefined::allowed_operations(type.group) : 0;
    datatype.name.set(type.name);
    // A pair is two runs. They are adjacent unless the pair has padding between value and index.
    int64_t index_bytes =
        pair ? with_element_type(type.index, [](auto zero) { return int64_t{sizeof zero}; }) : 0;
    int64_t value_bytes = type.size - index_bytes;
    PlacedLayout value = run_of(value_bytes), index = run_of(index_bytes);
    index.origin = padded ? type.index_offset : value_bytes;
    datatype.layout = joined({value, index}).layout;
    datatype.true_extent = index.origin + index_bytes;
    datatype.contiguous = !padded;
}

Datatype *predefined_datatype(int abi_value) {
    static TypeTable &table = *new TypeTable;
    if (abi_value < first_type || abi_value >= first_type + type_values) return nullptr;
    return table.by_value[static_cast<size_t>(abi_value - first_type)];
}

Datatype &null_datatype() {
    static Datatype &only = *[] {
        auto *made = new Datatype;
        made->abi_value = abi::datatype_null;
        made->committed = made->contiguous = true;
        made->name.set("MPI_DATATYPE_NULL");
        for (const predefined::Type &type : predefined::types)
            made->reductions |= predefined::allowed_operations(type.group);
        // Code that visits the elements needs a definition, so this one describes 0 bytes.
        Datatype *nothing = nullptr;
        Error error = make_contiguous(0, *predefined_datatype(abi::type_byte), &nothing);
        LANYARD_MUST(!error);
        made->definition = nothing->definition;
        release(*nothing);
        return made;
    }();
    return only;
}

ObjectPool<Datatype> &datatype_pool() {
    static ObjectPool<Datatype> &pool = *new ObjectPool<Datatype>;
    return pool;
}

void release(Datatype &datatype) {
    if (!datatype.let_go()) return;
    LANYARD_MUST(!datatype.predefined());
    datatype_pool().destroy(&datatype);
}

}  // namespace lanyard
