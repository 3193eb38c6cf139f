// The register of counters shows tools what the library counts. Each part of the library describes its
// counters in one table in its own folder. An object that counts registers itself with that table while it
// lives (CounterSource). MPI_T, profiles and tests read all counters here by name and need no other class.
//
// To add a counter, add a field that its owner changes (tally.h) and a row in the table of its folder. A new
// table needs a line in runtime/counters.cc. The order of those lines is the order in which tools see the
// variables, even before anything is registered.
//
// The value of a row is the sum over the registered objects; a process usually has one such object. When an
// object ends, the final values of its counters, timers and watermarks are kept, so its end decreases none of
// these values. Other values (levels, for example) describe only the objects that exist.
//
// Cost: none for the object that counts. Registering takes the lock once.
// Thread rule: any thread. The register's lock keeps registered objects alive while they are read. An
// object's owner may change its fields meanwhile, so a value that is read may be out of date, but is always a
// whole value. The functions of rows may run under that lock and must not take another lock.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/audience.h"
#include "base/peak.h"

namespace lanyard {

// Classes of variables, as MPI-5.0 section 15.3.7 defines them.
enum class CounterClass { counter, level, size, timer, watermark, state };

// A row as it is written in a table. `read` is a pointer to a field or method of Owner, or any function that
// takes an Owner.
template <class Owner>
struct CounterRow {
    using Value = std::function<uint64_t(const Owner &)>;

    CounterRow(const char *of_name, CounterClass of_kind, Audience for_whom, const char *in_unit,
               const char *of_sentence, Value read, std::function<Peak &(Owner &)> read_peak = nullptr)
        : name(of_name), kind(of_kind), audience(for_whom), unit(in_unit), sentence(of_sentence),
          value(std::move(read)), peak(std::move(read_peak)) {}

    const char *name;
    CounterClass kind;
    Audience audience;
    const char *unit;  // "s" for a timer, though its value is in nanoseconds
    const char *sentence;
    Value value;                          // for a watermark: the present level
    std::function<Peak &(Owner &)> peak;  // for a watermark: its peak
    std::vector<std::string> words;       // for a state: the names of its values, from 0 on
    // For a level or size with several values: `value_at`, instead of `value`, returns the value at an index,
    // here called place. `places` is the number of values, also while nothing is registered.
    std::function<uint64_t(const Owner &, int)> value_at;
    int places = 1;
    std::function<int(const Owner &)> places_of;  // the number of values, if it depends on the object
};

class CounterTable;

// A row as the register keeps it, without the type of its owner.
struct Counter {
    CounterTable *table;
    const char *name, *category;
    CounterClass kind;
    Audience audience;
    const char *unit, *sentence;
    std::vector<std::string> words;
    int places;
    std::function<uint64_t(const void *, int)> value_at;
    std::function<int(const void *)> places_of;
    std::function<Peak &(void *)> peak;

    bool has_places() const { return places_of || places > 1; }
    uint64_t value(int place = 0) const;
    // The value of one object that the reader names. Only for rows of a table of objects (of_objects()).
    uint64_t value_of(const void *object) const { return value_at(object, 0); }
    int places_now() const;
    // For a watermark: the highest level of any one object since begin_anew() was last called. begin_anew()
    // returns that level and starts again at the present levels.
    uint64_t highest() const;
    uint64_t begin_anew() const;
};

class CounterTable {
public:
    CounterTable(const CounterTable &) = delete;
    CounterTable &operator=(const CounterTable &) = delete;

    const std::vector<Counter> &rows() const { return rows_; }
    // True for a table of objects: a reader names an object and gets the value of that object. The objects of
    // such a table are not registered.
    bool of_objects() const { return of_objects_; }

    // These functions are for CounterSource and Counter only.
    void add(void *object);
    void remove(void *object);
    uint64_t &ended(const Counter &row) { return ended_[static_cast<size_t>(&row - rows_.data())]; }
    const std::vector<void *> &objects() const { return objects_; }

protected:
    CounterTable(std::vector<Counter> rows, bool of_objects);
    ~CounterTable() = default;

private:
    std::vector<Counter> rows_;
    bool of_objects_;
    std::vector<uint64_t> ended_;  // by row: the values that are kept from objects that have ended
    std::vector<void *> objects_;
};

// A table of the counters of an Owner. A table is created at first use and lives until exit:
//     Counters<Kitchen> &kitchen_counters() {
//         static auto &only = *new Counters<Kitchen>("kitchen", {...});
//         return only;
//     }
template <class Owner>
class Counters : public CounterTable {
public:
    using Row = CounterRow<Owner>;

    Counters(const char *category, std::vector<Row> rows, bool of_objects = false)
        : CounterTable(erased(category, rows), of_objects) {}

private:
    static std::vector<Counter> erased(const char *category, const std::vector<Row> &rows) {
        auto owner = [](const void *object) -> const Owner & { return *static_cast<const Owner *>(object); };
        std::vector<Counter> all;
        for (const Row &row : rows) {
            Counter &made = all.emplace_back(Counter{nullptr, row.name, category, row.kind, row.audience,
                                                     row.unit, row.sentence, row.words, row.places, {}, {},
                                                     {}});
            if (row.value)
                made.value_at = [owner, value = row.value](const void *object, int) {
                    return value(owner(object));
                };
            else
                made.value_at = [owner, value = row.value_at](const void *object, int place) {
                    return value(owner(object), place);
                };
            if (row.places_of)
                made.places_of = [owner, places = row.places_of](const void *object) {
                    return places(owner(object));
                };
            if (row.peak)
                made.peak = [peak = row.peak](void *object) -> Peak & {
                    return peak(*static_cast<Owner *>(object));
                };
        }
        return all;
    }
};

// A member by which an object is registered while it exists. Must be the last member of the object's class,
// so that it is destroyed first.
class CounterSource {
public:
    template <class Owner>
    CounterSource(Counters<Owner> &table, std::type_identity_t<Owner> &owner)
        : table_(table), owner_(&owner) {
        table_.add(owner_);
    }
    ~CounterSource() { table_.remove(owner_); }
    CounterSource(const CounterSource &) = delete;
    CounterSource &operator=(const CounterSource &) = delete;

private:
    CounterTable &table_;
    void *owner_;
};

// Sets the tables of the library, in order. Called before any table is read; later calls have no effect.
void declare_counters(std::vector<CounterTable *> tables);
const std::vector<CounterTable *> &counter_tables();
// Returns nullptr if no counter has this name.
const Counter *find_counter(std::string_view name);

}  // namespace lanyard
