// See profiles.h.
#include "runtime/profiles.h"

#include "coll/collectives.h"
#include "datatype/predefined.h"

namespace lanyard {

namespace {

// Collects at rank 0, in rank order, the texts that the ranks have written about themselves. On other ranks
// `all` stays empty.
Error gather_texts(Executor &executor, Team &team, const std::string &own, std::vector<std::string> &all) {
    const Datatype &byte = packed_bytes();
    auto buffer = [&](void *base, size_t bytes) {
        return Buffer{static_cast<std::byte *>(base), static_cast<int64_t>(bytes), &byte};
    };
    auto size = static_cast<size_t>(team.size);
    int64_t length = static_cast<int64_t>(own.size());
    std::vector<int64_t> lengths(size), places(size);
    if (Error error = blocking(executor, team, CollectiveKind::finalize, plan_allgather,
                               buffer(&length, sizeof length), buffer(lengths.data(), sizeof length)))
        return error;
    int64_t total = 0;
    for (size_t i = 0; i < size; ++i) {
        places[i] = total;
        total += lengths[i];
    }
    std::string texts(team.index == 0 ? static_cast<size_t>(total) : 0, ' ');
    Uneven received{reinterpret_cast<std::byte *>(texts.data()), Numbers{lengths.data()},
                    Numbers{places.data()}, &byte};
    if (Error error = blocking(executor, team, CollectiveKind::finalize, plan_gatherv,
                               buffer(const_cast<char *>(own.data()), own.size()), received, 0))
        return error;
    for (size_t i = 0; i < size && team.index == 0; ++i)
        all.push_back(texts.substr(static_cast<size_t>(places[i]), static_cast<size_t>(lengths[i])));
    return {};
}

}  // namespace

Error report_profiles(Runtime &ending, Team &world) {
    std::vector<std::string> texts;
    ending.messenger->set_traffic(nullptr);
    if (Error error = gather_texts(*ending.executor, world, ending.profile->counted(world.index), texts))
        return error;
    if (world.index == 0) tool::report(texts, ending.bootstrap->job());
    return {};
}

}  // namespace lanyard
