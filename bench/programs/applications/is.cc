// IS sorts 2^16 to 2^25 integer keys: ten times, it computes the position of each key in the sorted order.
// The definition calls this position the key's rank (RNR-94-007, section 2.7). Two keys change each time.
// Keys with similar values belong to one bucket, and each bucket belongs to one MPI rank. An iteration sums
// the bucket sizes over all MPI ranks (MPI_Allreduce), exchanges the numbers of keys to be sent
// (MPI_Alltoall), and then sends each key to the MPI rank that owns its bucket (MPI_Alltoallv).
#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>

#include "bench/programs/applications/application.h"
#include "bench/programs/applications/random.h"

namespace lanyard::bench {

namespace {

constexpr int iterations = 10;
constexpr int tests = 5;
constexpr std::uint64_t seed = 314159265;

struct Problem {
    char name;
    int log_keys, log_values;
    std::array<long, tests> places;  // the indices of five keys that are tested
    // the published ranks of these keys, without the part that depends on the iteration
    std::array<long, tests> ranks;
    long (*added)(int test, int iteration);
};

constexpr Problem problems[] = {
    {'S', 16, 11, {48427, 17148, 23627, 62548, 4431}, {0, 18, 346, 64917, 65463},
     [](int test, int iteration) -> long { return test <= 2 ? iteration : -iteration; }},
    {'W', 20, 16, {357773, 934767, 875723, 898999, 404505}, {1249, 11698, 1039987, 1043896, 1048018},
     [](int test, int iteration) -> long { return test < 2 ? iteration - 2 : -iteration; }},
    {'A', 23, 19, {2112377, 662041, 5336171, 3642833, 4250760}, {104, 17523, 123928, 8288932, 8388264},
     [](int test, int iteration) -> long { return test <= 2 ? iteration - 1 : 1 - iteration; }},
    {'B', 25, 21, {41869, 812306, 5102857, 18232239, 26860214}, {33422937, 10244, 59149, 33135281, 99},
     [](int test, int iteration) -> long {
         return test == 1 || test == 2 || test == 4 ? iteration : -iteration;
     }}};

class Sort {
public:
    explicit Sort(Run& run)
        : run_(run), problem_(problem_of(problems, run.problem())),
          ranks_(static_cast<std::size_t>(run.size())),
          bucket_shift_(problem_.log_values - std::min(10, problem_.log_values - 2)),
          buckets_(std::size_t{1} << (problem_.log_values - bucket_shift_)), first_(share(run.rank())),
          keys_(static_cast<std::size_t>(share(run.rank() + 1) - first_)), sorted_(keys_.size()),
          out_counts_(ranks_), out_places_(ranks_), in_counts_(ranks_), in_places_(ranks_) {
        fill_keys();
    }

    // Makes one iteration. Afterwards, at_or_below_ gives the position of each value that this MPI rank owns.
    // Some of the five tested keys belong to this MPI rank. Returns true if these have their published
    // positions.
    bool rank_keys(int iteration) {
        change_keys(iteration);
        sort_into_buckets();
        divide_buckets();
        exchange_keys();
        count_values();
        return check_tests(iteration);
    }

    // Sorts the keys by their positions. Checks that the keys are in order, within this MPI rank and between
    // neighbouring MPI ranks.
    bool check_order() {
        std::vector<std::int32_t> ordered(in_.size());
        for (auto key = in_.rbegin(); key != in_.rend(); ++key)
            ordered[static_cast<std::size_t>(--at_or_below_[static_cast<std::size_t>(*key - lowest_)])] =
                *key;
        struct Ends {
            long count, low, high;
        } mine{static_cast<long>(ordered.size()), ordered.empty() ? 0 : ordered.front(),
               ordered.empty() ? 0 : ordered.back()};
        std::vector<Ends> all(ranks_);
        PMPI_Allgather(&mine, 3, MPI_LONG, all.data(), 3, MPI_LONG, MPI_COMM_WORLD);
        long keys = 0, below = -1;
        bool good = std::is_sorted(ordered.begin(), ordered.end());
        for (const Ends& ends : all) {
            if (ends.count == 0) continue;
            good = good && below <= ends.low;
            below = ends.high;
            keys += ends.count;
        }
        return good && keys == all_keys();
    }

    long all_keys() const { return 1L << problem_.log_keys; }

private:
    long share(int rank) const { return all_keys() * rank / run_.size(); }

    void fill_keys() {
        Random random(seed);
        random.skip(4 * static_cast<std::uint64_t>(first_));
        double quarter = static_cast<double>(1L << problem_.log_values) / 4;
        for (std::int32_t& key : keys_) {
            double sum = random.next();
            for (int i = 0; i < 3; ++i) sum += random.next();
            key = static_cast<std::int32_t>(quarter * sum);
        }
    }

    void set_key(long place, std::int32_t key) {
        if (place >= first_ && place < first_ + static_cast<long>(keys_.size()))
            keys_[static_cast<std::size_t>(place - first_)] = key;
    }
    void change_keys(int iteration) {
        set_key(iteration, iteration);
        set_key(iteration + iterations, (1 << problem_.log_values) - iteration);
    }

    // Fills sorted_ with the keys, bucket by bucket. Sums the bucket sizes over all ranks. The array that is
    // summed also contains the tested keys, behind the buckets.
    void sort_into_buckets() {
        std::vector<std::int32_t> mine(buckets_ + tests);
        for (std::int32_t key : keys_) ++mine[bucket_of(key)];
        std::vector<std::int32_t> next(buckets_);
        std::exclusive_scan(mine.begin(), mine.begin() + static_cast<long>(buckets_), next.begin(), 0);
        for (std::int32_t key : keys_) sorted_[static_cast<std::size_t>(next[bucket_of(key)]++)] = key;
        for (std::size_t test = 0; test < tests; ++test) {
            long place = problem_.places[test] - first_;
            if (place >= 0 && place < static_cast<long>(keys_.size()))
                mine[buckets_ + test] = keys_[static_cast<std::size_t>(place)];
        }
        bucket_sizes_ = mine;
        bucket_totals_.resize(mine.size());
        MPI_Allreduce(mine.data(), bucket_totals_.data(), static_cast<int>(mine.size()), MPI_INT, MPI_SUM,
                      MPI_COMM_WORLD);
    }

    // Assigns consecutive buckets to each rank, so that all ranks have about the same number of keys.
    void divide_buckets() {
        std::size_t bucket = 0;
        long taken = 0;
        std::int32_t place = 0;
        for (std::size_t rank = 0; rank < ranks_; ++rank) {
            bool mine = static_cast<int>(rank) == run_.rank();
            if (mine) lowest_ = static_cast<std::int32_t>(bucket << bucket_shift_), below_mine_ = taken;
            out_places_[rank] = place;
            for (; bucket < buckets_ && (taken < share(static_cast<int>(rank) + 1) || rank + 1 == ranks_);
                 ++bucket) {
                taken += bucket_totals_[bucket];
                place += bucket_sizes_[bucket];
            }
            out_counts_[rank] = place - out_places_[rank];
            if (mine) end_ = static_cast<std::int32_t>(bucket << bucket_shift_);
        }
    }

    void exchange_keys() {
        MPI_Alltoall(out_counts_.data(), 1, MPI_INT, in_counts_.data(), 1, MPI_INT, MPI_COMM_WORLD);
        std::exclusive_scan(in_counts_.begin(), in_counts_.end(), in_places_.begin(), 0);
        in_.resize(static_cast<std::size_t>(in_places_.back() + in_counts_.back()));
        MPI_Alltoallv(sorted_.data(), out_counts_.data(), out_places_.data(), MPI_INT, in_.data(),
                      in_counts_.data(), in_places_.data(), MPI_INT, MPI_COMM_WORLD);
    }

    // Counts the keys that have arrived. at_or_below_[v] becomes the number of these keys that are not above
    // lowest_ + v. This number is also the position, among these keys, of the value lowest_ + v + 1.
    void count_values() {
        at_or_below_.assign(static_cast<std::size_t>(end_ - lowest_), 0);
        // A key that another rank owns can arrive only if the MPI library makes an error. Such a key is
        // dropped, and check_order() then finds too few keys.
        std::erase_if(in_, [this](std::int32_t key) { return key < lowest_ || key >= end_; });
        for (std::int32_t key : in_) ++at_or_below_[static_cast<std::size_t>(key - lowest_)];
        std::inclusive_scan(at_or_below_.begin(), at_or_below_.end(), at_or_below_.begin());
    }

    bool check_tests(int iteration) const {
        bool good = true;
        for (std::size_t test = 0; test < tests; ++test) {
            std::int32_t key = bucket_totals_[buckets_ + test];
            if (key < lowest_ || key >= end_) continue;  // another rank owns the key
            long rank =
                below_mine_ + (key > lowest_ ? at_or_below_[static_cast<std::size_t>(key - lowest_ - 1)] : 0);
            good = good && rank == problem_.ranks[test] + problem_.added(static_cast<int>(test), iteration);
        }
        return good;
    }

    std::size_t bucket_of(std::int32_t key) const { return static_cast<std::size_t>(key >> bucket_shift_); }

    Run& run_;
    const Problem& problem_;
    std::size_t ranks_;
    int bucket_shift_;
    std::size_t buckets_;
    long first_;  // index of this rank's first key among all keys
    std::vector<std::int32_t> keys_, sorted_, in_, bucket_sizes_, bucket_totals_, at_or_below_;
    std::vector<int> out_counts_, out_places_, in_counts_, in_places_;
    std::int32_t lowest_ = 0, end_ = 0;  // the values that this rank owns
    long below_mine_ = 0;                // number of keys that lower ranks own
};

}  // namespace

Outcome run_is(Run& run) {
    Sort sort(run);
    sort.rank_keys(1);  // an untimed iteration that touches all memory, as in the definition
    bool verified = true;
    run.start();
    for (int iteration = 1; iteration <= iterations; ++iteration) {
        verified = sort.rank_keys(iteration) && verified;
        run.show_progress(iteration, iterations);
    }
    run.stop();
    verified = everywhere(sort.check_order()) && verified;
    return {verified, 1e-6 * iterations * static_cast<double>(sort.all_keys())};
}

}  // namespace lanyard::bench
