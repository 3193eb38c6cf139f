// Builds random types (types.h) from the whole signature down to its parts, with one constructor for each
// step. Beside each constructor, the test computes the expected type map from the constructor's definition in
// chapter 5.1 of the standard.
#include <algorithm>
#include <numeric>

#include "types.h"

namespace random_calls {

namespace {

// A datatype under construction. It is not committed. The code that builds another datatype from it frees it.
struct Part {
    MPI_Datatype handle;
    Map map;
    bool named = false;

    void drop() {
        if (!named) MPI_Type_free(&handle);
    }
};

class Builder {
public:
    explicit Builder(Random &random) : random_(random) {}

    Part build(const Signature &signature) {
        Part made = signature.size() == 1 ? basic(signature) : composite(signature);
        if (random_.chance(15)) made = duplicate(made);
        bool overlaps =
            made.map.low() > made.map.true_low() || made.map.low() + made.map.extent() < made.map.true_high();
        if (overlaps || random_.chance(15)) made = resize(made);
        return made;
    }

private:
    using Numbers = std::vector<int>;
    using Places = std::vector<MPI_Aint>;

    static Part basic(const Signature &signature) {
        Part made{signature[0]->handle, {}, true};
        made.map.entries.push_back({signature[0], 0});
        return made;
    }

    Part duplicate(Part old) {
        Part made{MPI_DATATYPE_NULL, old.map};
        MPI_Type_dup(old.handle, &made.handle);
        old.drop();
        return made;
    }

    Part resize(Part old) {
        MPI_Aint step = old.map.alignment();
        MPI_Aint low = std::min(old.map.low(), old.map.true_low()) - step * random_.between(0, 2);
        MPI_Aint high = std::max(old.map.low() + old.map.extent(), old.map.true_high());
        MPI_Aint extent = (high - low + step - 1) / step * step + step * random_.between(0, 2);
        Part made{MPI_DATATYPE_NULL, old.map};
        made.map.set_bounds(low, low + extent);
        MPI_Type_create_resized(old.handle, low, extent, &made.handle);
        old.drop();
        return made;
    }

    Part composite(const Signature &signature) {
        size_t period = 1;
        while (signature.size() % period ||
               !std::equal(signature.begin() + static_cast<long>(period), signature.end(), signature.begin()))
            ++period;
        size_t periods = signature.size() / period,
               together = random_.between(1, static_cast<int64_t>(periods));
        while (periods % together) --together;
        if (together == periods) return structure(signature);
        Part once =
            build(Signature(signature.begin(), signature.begin() + static_cast<long>(period * together)));
        Part made = repeat(once, static_cast<int>(periods / together));
        once.drop();
        return made;
    }

    // Builds a struct of several parts. The parts are in the order of the signature, but can lie anywhere in
    // memory.
    Part structure(const Signature &signature) {
        std::vector<Part> parts;
        Numbers counts, spans;
        std::vector<MPI_Datatype> handles;
        MPI_Aint step = 1;
        for (size_t done = 0; done < signature.size();) {
            size_t next = done + static_cast<size_t>(random_.between(
                                     1, static_cast<int64_t>(std::min<size_t>(signature.size() - done, 5))));
            if (next - done == signature.size()) --next;
            size_t same = done;
            while (same < next && signature[same] == signature[done]) ++same;
            // If the member repeats one basic type, it is either this type with a count, or a datatype of its
            // own.
            bool repeated = same == next && random_.chance(50);
            parts.push_back(build(repeated ? Signature{signature[done]}
                                           : Signature(&signature[done], &signature[next - 1] + 1)));
            counts.push_back(repeated ? static_cast<int>(next - done) : 1);
            handles.push_back(parts.back().handle);
            step = std::max(step, parts.back().map.alignment());
            done = next;
        }
        for (size_t i = 0; i < parts.size(); ++i)
            spans.push_back(static_cast<int>((parts[i].map.extent() * counts[i] + step - 1) / step) + 1);
        Numbers places = scatter(spans);
        Places bytes;
        Part made{MPI_DATATYPE_NULL, {}};
        for (size_t i = 0; i < parts.size(); ++i) {
            // places[i] is the place of the part's first byte, in units of `step`. The part's displacement is
            // this place minus the part's lower bound.
            MPI_Aint low = parts[i].map.low();
            bytes.push_back((places[i] - (low - (low < 0 ? step - 1 : 0)) / step) * step);
            for (int k = 0; k < counts[i]; ++k)
                made.map.add(parts[i].map, bytes.back() + k * parts[i].map.extent());
        }
        MPI_Type_create_struct(static_cast<int>(parts.size()), counts.data(), bytes.data(), handles.data(),
                               &made.handle);
        for (Part &part : parts) part.drop();
        return made;
    }

    // Returns places for blocks of these lengths. The blocks do not overlap and are in any order. The lowest
    // place may be negative.
    Numbers scatter(const Numbers &lengths) {
        Numbers order(lengths.size()), places(lengths.size());
        std::iota(order.begin(), order.end(), 0);
        if (random_.chance(50))
            for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random_.below(i)]);
        int next = between(random_, -3, 3);
        for (int block : order) {
            places[static_cast<size_t>(block)] = next;
            next += lengths[static_cast<size_t>(block)] + below(random_, 3);
        }
        return places;
    }

    // Returns random lengths of blocks. Their sum is `sum`.
    Numbers partition(int sum) {
        Numbers lengths;
        for (int left = sum; left > 0; left -= lengths.back())
            lengths.push_back(between(random_, random_.chance(20) ? 0 : 1, left));
        return lengths;
    }

    int divisor_of(int number) {
        int divisor = between(random_, 1, number);
        while (number % divisor) --divisor;
        return divisor;
    }

    Part repeat(const Part &old, int times) {
        switch (random_.below(6)) {
        case 0: return contiguous(old, times);
        case 1: return vector(old, times);
        case 2: return indexed(old, partition(times));
        case 3: return equal_blocks(old, times);
        case 4: return subarray(old, times);
        default: return darray(old, times);
        }
    }

    // Returns the map of blocks of elements of `old`: lengths[i] elements at bytes[i].
    static Map blocks(const Map &old, const Places &bytes, const Numbers &lengths) {
        Map map;
        for (size_t i = 0; i < bytes.size(); ++i)
            for (int k = 0; k < lengths[i]; ++k) map.add(old, bytes[i] + k * old.extent());
        return map;
    }

    static Places in_bytes(const Numbers &places, MPI_Aint unit) {
        Places bytes;
        for (int place : places) bytes.push_back(place * unit);
        return bytes;
    }

    Part contiguous(const Part &old, int times) {
        Part made{MPI_DATATYPE_NULL, blocks(old.map, {0}, {times})};
        MPI_Type_contiguous(times, old.handle, &made.handle);
        return made;
    }

    Part vector(const Part &old, int times) {
        int length = divisor_of(times), count = times / length, stride = length + below(random_, 4);
        if (random_.chance(20)) stride = -stride;
        bool by_bytes = random_.chance(50);
        MPI_Aint bytes = stride * old.map.extent() +
                         (by_bytes ? old.map.alignment() * random_.between(0, 3) * (stride < 0 ? -1 : 1) : 0);
        Places places;
        for (int i = 0; i < count; ++i) places.push_back(i * bytes);
        Part made{MPI_DATATYPE_NULL, blocks(old.map, places, Numbers(places.size(), length))};
        if (by_bytes) MPI_Type_create_hvector(count, length, bytes, old.handle, &made.handle);
        else MPI_Type_vector(count, length, stride, old.handle, &made.handle);
        return made;
    }

    Part indexed(const Part &old, const Numbers &lengths) {
        Numbers places = scatter(lengths);
        Places bytes = in_bytes(places, old.map.extent());
        Part made{MPI_DATATYPE_NULL, blocks(old.map, bytes, lengths)};
        int count = static_cast<int>(lengths.size());
        if (random_.chance(50))
            MPI_Type_indexed(count, lengths.data(), places.data(), old.handle, &made.handle);
        else MPI_Type_create_hindexed(count, lengths.data(), bytes.data(), old.handle, &made.handle);
        return made;
    }

    Part equal_blocks(const Part &old, int times) {
        int length = divisor_of(times);
        Numbers lengths(static_cast<size_t>(times / length), length), places = scatter(lengths);
        Places bytes = in_bytes(places, old.map.extent());
        Part made{MPI_DATATYPE_NULL, blocks(old.map, bytes, lengths)};
        int count = static_cast<int>(lengths.size());
        if (random_.chance(50))
            MPI_Type_create_indexed_block(count, length, places.data(), old.handle, &made.handle);
        else MPI_Type_create_hindexed_block(count, length, bytes.data(), old.handle, &made.handle);
        return made;
    }

    // Returns the map of those elements of an array of these sizes for which takes(index) is true, in the
    // order of memory.
    template <class Takes>
    static Map of_array(const Map &old, const Numbers &sizes, bool rows_last, Takes takes) {
        int total = std::accumulate(sizes.begin(), sizes.end(), 1, std::multiplies<>());
        Map map;
        for (int place = 0; place < total; ++place) {
            Numbers index(sizes.size());
            int rest = place;
            for (size_t k = 0; k < sizes.size(); ++k) {
                // the index that varies fastest comes first
                size_t dimension = rows_last ? k : sizes.size() - 1 - k;
                index[dimension] = rest % sizes[dimension];
                rest /= sizes[dimension];
            }
            if (takes(index)) map.add(old, place * old.extent());
        }
        map.set_bounds(0, total * old.extent());
        return map;
    }

    Part subarray(const Part &old, int times) {
        Numbers sizes, taken, starts;
        int dimensions = between(random_, 1, 3);
        for (int k = 0; k < dimensions; ++k) {
            taken.push_back(k == dimensions - 1 ? times : divisor_of(times));
            times /= taken.back();
            sizes.push_back(taken.back() + below(random_, 3));
            starts.push_back(between(random_, 0, sizes.back() - taken.back()));
        }
        bool fortran = random_.chance(50);
        Part made{MPI_DATATYPE_NULL, of_array(old.map, sizes, fortran, [&](const Numbers &index) {
                      for (size_t k = 0; k < index.size(); ++k)
                          if (index[k] < starts[k] || index[k] >= starts[k] + taken[k]) return false;
                      return true;
                  })};
        MPI_Type_create_subarray(dimensions, sizes.data(), taken.data(), starts.data(),
                                 fortran ? MPI_ORDER_FORTRAN : MPI_ORDER_C, old.handle, &made.handle);
        return made;
    }

    // Builds one process's part of a distributed array. Draws arrays until the part has the wanted number of
    // elements.
    Part darray(const Part &old, int times) {
        for (int attempt = 0; attempt < 30; ++attempt) {
            size_t dimensions = random_.between(1, 2);
            Numbers sizes, how, blocks_of, grid;
            int processes = 1;
            for (size_t k = 0; k < dimensions; ++k) {
                sizes.push_back(between(random_, 1, dimensions == 1 ? 4 * times : times + 1));
                how.push_back(random_.pick(distributions));
                grid.push_back(how.back() == MPI_DISTRIBUTE_NONE ? 1 : between(random_, 1, 3));
                int least = how.back() == MPI_DISTRIBUTE_BLOCK ? (sizes[k] + grid[k] - 1) / grid[k] : 1;
                blocks_of.push_back(random_.chance(40) ? MPI_DISTRIBUTE_DFLT_DARG
                                                       : least + below(random_, 2));
                processes *= grid.back();
            }
            int process = below(random_, processes);
            bool fortran = random_.chance(50);
            // The coordinates of the process. The last dimension of the grid varies fastest in both orders.
            Numbers mine(dimensions);
            for (size_t k = dimensions, rest = static_cast<size_t>(process); k-- > 0;
                 rest /= static_cast<size_t>(grid[k]))
                mine[k] = static_cast<int>(rest % static_cast<size_t>(grid[k]));
            Map map = of_array(old.map, sizes, fortran, [&](const Numbers &index) {
                for (size_t k = 0; k < dimensions; ++k) {
                    if (how[k] == MPI_DISTRIBUTE_NONE) continue;
                    int usual = how[k] == MPI_DISTRIBUTE_BLOCK ? (sizes[k] + grid[k] - 1) / grid[k] : 1;
                    int block = blocks_of[k] == MPI_DISTRIBUTE_DFLT_DARG ? usual : blocks_of[k];
                    if (index[k] / block % grid[k] != mine[k]) return false;
                }
                return true;
            });
            if (map.entries.size() != old.map.entries.size() * static_cast<size_t>(times)) continue;
            Part made{MPI_DATATYPE_NULL, std::move(map)};
            MPI_Type_create_darray(processes, process, static_cast<int>(dimensions), sizes.data(), how.data(),
                                   blocks_of.data(), grid.data(), fortran ? MPI_ORDER_FORTRAN : MPI_ORDER_C,
                                   old.handle, &made.handle);
            return made;
        }
        return contiguous(old, times);
    }

    Numbers distributions{MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE};
    Random &random_;
};

void check_bounds(const Type &type) {
    int size = 0, wanted_size = 0;
    MPI_Aint low, extent, true_low, true_extent;
    for (const Entry &entry : type.map.entries) wanted_size += entry.basic->bytes;
    MPI_Type_size(type.handle, &size);
    MPI_Type_get_extent(type.handle, &low, &extent);
    MPI_Type_get_true_extent(type.handle, &true_low, &true_extent);
    check_equal(size, wanted_size);
    check_equal(low, type.map.low());
    check_equal(extent, type.map.extent());
    check_equal(true_low, type.map.true_low());
    check_equal(true_extent, type.map.true_high() - type.map.true_low());
}

}  // namespace

TypePointer random_type(Random &random, const Signature &signature) {
    Part made = Builder(random).build(signature);
    if (!made.named) MPI_Type_commit(&made.handle);
    auto type = std::make_shared<Type>(made.handle, std::move(made.map));
    check_bounds(*type);
    return type;
}

}  // namespace random_calls
