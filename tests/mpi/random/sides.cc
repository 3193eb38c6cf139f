// See sides.h.
#include "sides.h"

namespace random_calls {

Side make_side(World &world, Ongoing &ongoing, const Signature &unit, const std::vector<int> &lengths,
               bool with_places, bool typed) {
    Random &own = world.own;
    TypePointer common = random_type(own, unit);
    std::vector<Area::Block> blocks;
    std::vector<int> places;
    std::vector<MPI_Aint> addresses;
    std::vector<MPI_Datatype> types;
    MPI_Aint next = 0;
    for (int count : lengths) {
        TypePointer type = typed ? random_type(own, unit) : common;
        const Map &map = type->map;
        if (with_places) next += (typed ? 16 : 1) * below(own, 3);
        MPI_Aint place = typed ? next - (map.true_low() - 15) / 16 * 16 : next;
        next = typed ? (place + map.true_high() + count * map.extent()) / 16 * 16 + 16 : place + count;
        blocks.push_back({typed ? place : place * map.extent(), type, count});
        places.push_back(static_cast<int>(place));
        addresses.push_back(place);
        types.push_back(type->handle);
        ongoing.kept.push_back(type);
    }
    ongoing.kept.push_back(common);
    ongoing.areas.push_back(std::make_unique<Area>(own, std::move(blocks)));
    // The inner vectors keep their memory when the outer vector grows.
    Side side{ongoing.areas.back().get(), common->handle, nullptr, nullptr, nullptr, nullptr};
    side.counts = ongoing.numbers.emplace_back(lengths).data();
    side.places = ongoing.numbers.emplace_back(std::move(places)).data();
    side.addresses = ongoing.addresses.emplace_back(std::move(addresses)).data();
    side.types = ongoing.types.emplace_back(std::move(types)).data();
    return side;
}

}  // namespace random_calls
