// See block.h.
#include "coll/block.h"

namespace lanyard {

const Datatype &packed_bytes() {
    static const Datatype &bytes = *[] {
        auto *type = new Datatype;
        type->size = type->extent = type->true_extent = 1;
        type->contiguous = type->committed = true;
        return type;
    }();
    return bytes;
}

Division Division::even(Space space, int64_t count, const Datatype &type) {
    Division division;
    division.space_ = space;
    division.count_ = count;
    division.type_ = &type;
    return division;
}

Division Division::uneven(Space space, Numbers counts, Numbers displacements, const Datatype &type) {
    Division division;
    division.kind_ = Kind::uneven;
    division.space_ = space;
    division.type_ = &type;
    division.counts_ = counts;
    division.displacements_ = displacements;
    return division;
}

Division Division::typed(Space space, Numbers counts, Numbers displacements, const Datatype *const *types) {
    Division division;
    division.kind_ = Kind::typed;
    division.space_ = space;
    division.types_ = types;
    division.counts_ = counts;
    division.displacements_ = displacements;
    return division;
}

Division Division::packed(Space space, int64_t offset, const Division &like, int size) {
    Division division;
    division.kind_ = Kind::packed;
    division.space_ = space;
    division.offset_ = offset;
    division.type_ = &packed_bytes();
    division.starts_.resize(size + 1);
    for (int rank = 0; rank < size; ++rank)
        division.starts_[rank + 1] = division.starts_[rank] + like.block(rank).bytes();
    return division;
}

Division Division::cut(const Block &all, std::vector<int64_t> starts) {
    Division division;
    division.kind_ = Kind::packed;
    division.space_ = all.space;
    division.offset_ = all.offset;
    division.type_ = &packed_bytes();
    division.starts_ = std::move(starts);
    return division;
}

Division Division::one(const Block &block) {
    Division division;
    division.space_ = block.space;
    division.offset_ = block.offset;
    division.count_ = block.count;
    division.type_ = block.type;
    return division;
}

Block Division::whole(int ranks) const {
    LANYARD_MUST(kind_ == Kind::even || kind_ == Kind::packed);
    if (kind_ == Kind::packed) return {space_, offset_ + starts_[0], starts_[ranks] - starts_[0], type_};
    return {space_, offset_, ranks * count_, type_};
}

Block Division::block(int rank) const {
    switch (kind_) {
        case Kind::even: return {space_, offset_ + rank * count_ * type_->extent, count_, type_};
        case Kind::uneven: return {space_, displacements_[rank] * type_->extent, counts_[rank], type_};
        case Kind::typed: return {space_, displacements_[rank], counts_[rank], types_[rank]};
        case Kind::packed: return {space_, offset_ + starts_[rank], starts_[rank + 1] - starts_[rank], type_};
    }
    return {};
}

}  // namespace lanyard
