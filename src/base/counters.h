// The register of counters: what the library counts, for tools. Each part describes its counters in one table
// in its own folder. An object that counts registers itself there while it lives (CounterSource). MPI_T,
// profiles and tests read all counters here by name and need no other class.
//
// To add a counter, add a field that its owner changes (tally.h) and a row in the table of its folder. A new
// table needs a line in runtime/counters.cc. Its order is the order in which tools see the variables, even
// before anything is registered.
//
// The value of a row is the sum over the registered objects; a process usually has one. The final value of a
// counter, timer or watermark is kept when its object ends, so that none ever decreases. A level is the
// present value.
//
// Cost: none for the object that counts. Registering takes the lock once.
// Thread rule: any thread. The register's lock keeps objects alive while they are read. Their owner changes
// the fields meanwhile, so a value may be out of date, but it is whole. The functions of rows run under that
// lock and must not take another.
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

// As in MPI-5.0 section 15.3.7.
enum class CounterClass { counter, level, size, timer, watermark, state };

// A row as its table writes it. A value is read through a pointer to a field or method of Owner, or by any
// function of an Owner.
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
    std::function<Peak &(Owner &)> peak;  // for a watermark
    std::vector<std::string> words;       // for a state: the names of its values, from 0 on
    // For a level or size with several values, instead of `value`: each value, and how many there are, even
    // if nothing is registered.
    std::function<uint64_t(const Owner &, int)> value_at;
    int places = 1;
    std::function<int(const Owner &)> places_of;  // if the number depends on the object
};

class CounterTable;

// The row as the register keeps it, for any owner.
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
    // The value of one object that the reader names, in a table of objects.
    uint64_t value_of(const void *object) const { return value_at(object, 0); }
    int places_now() const;
    // For a watermark: the highest level since begin_anew() was last called. begin_anew() returns it and
    // starts again at the present level.
    uint64_t highest() const;
    uint64_t begin_anew() const;
};

class CounterTable {
public:
    CounterTable(const CounterTable &) = delete;
    CounterTable &operator=(const CounterTable &) = delete;

    const std::vector<Counter> &rows() const { return rows_; }
    // True if each row has one value for every object that a reader names. Such objects are not registered.
    bool of_objects() const { return of_objects_; }

    // Used by CounterSource and Counter.
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
    std::vector<uint64_t> ended_;  // by row: what objects that have ended had counted
    std::vector<void *> objects_;
};

// A table of counters of an Owner. Each set of rows has one, which is created at first use and lives until
// exit:
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

// Registers an object while it exists. Must be the last member of the object's class, so that it is destroyed
// first.
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

// The tables of the library, in order. Called once, before any table is read.
void declare_counters(std::vector<CounterTable *> tables);
const std::vector<CounterTable *> &counter_tables();
// nullptr: no counter has this name.
const Counter *find_counter(std::string_view name);

}  // namespace lanyard
