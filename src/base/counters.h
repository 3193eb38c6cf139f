// The register of counters: what the library counts, for tools. Each part describes its counters in one table in its own folder, and an
// object that counts registers itself there for as long as it lives (CounterSource). MPI_T, profiles and tests read all of them here, by
// name and without knowing a class.
//
// To add a counter: a field that its owner changes (tally.h), and a row in the table of its folder. A new table gets a line in
// runtime/counters.cc, whose order is that in which tools see the variables, also before there is anything that counts.
//
// A row's value is the sum over the registered objects, of which a process usually has one. What a counter, timer or watermark had come to
// stays when its object ends, so that none ever goes back; a level is what there is now.
// Cost: none for who counts. Registering takes the lock, once.
// Thread rule: any thread. The register's lock keeps an object from ending while it is read; its owner changes its fields meanwhile: a value
// may be a moment old, but is whole. Functions of rows are called under that lock, so they take no other.
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

// A row as its table writes it. A value is read by a pointer to a field or to a method of Owner, or by any function of it.
template <class Owner>
struct CounterRow {
    using Value = std::function<uint64_t(const Owner &)>;

    CounterRow(const char *of_name, CounterClass of_kind, Audience for_whom, const char *in_unit, const char *of_sentence, Value read,
               std::function<Peak &(Owner &)> read_peak = nullptr)
        : name(of_name), kind(of_kind), audience(for_whom), unit(in_unit), sentence(of_sentence), value(std::move(read)),
          peak(std::move(read_peak)) {}

    const char *name;
    CounterClass kind;
    Audience audience;
    const char *unit;  // of a timer "s", though its value is in nanoseconds
    const char *sentence;
    Value value;                          // of a watermark the level now
    std::function<Peak &(Owner &)> peak;  // of a watermark
    std::vector<std::string> words;       // of a state: what its values mean, from 0 on
    // Of a level or size that has several values, instead of `value`: each, and how many, also where nothing is registered.
    std::function<uint64_t(const Owner &, int)> value_at;
    int places = 1;
    std::function<int(const Owner &)> places_of;  // where it depends on the object
};

class CounterTable;

// The same as the register keeps it, of whatever owner.
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
    // The same of one object that the reader knows, in a table of objects.
    uint64_t value_of(const void *object) const { return value_at(object, 0); }
    int places_now() const;
    // Of a watermark: the highest level since somebody last had it begin anew, from the level then. begin_anew() returns it once more.
    uint64_t highest() const;
    uint64_t begin_anew() const;
};

class CounterTable {
public:
    CounterTable(const CounterTable &) = delete;
    CounterTable &operator=(const CounterTable &) = delete;

    const std::vector<Counter> &rows() const { return rows_; }
    // Is each row one for every object that a reader may name, of which none is registered?
    bool of_objects() const { return of_objects_; }

    // For CounterSource, and for Counter.
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
    std::vector<uint64_t> ended_;  // by row: what objects that are gone had counted
    std::vector<void *> objects_;
};

// A table of counters of an Owner. There is one for each set of rows, made when it is first needed, and it lives until exit:
//     Counters<Kitchen> &kitchen_counters() { static auto &only = *new Counters<Kitchen>("kitchen", {...}); return only; }
template <class Owner>
class Counters : public CounterTable {
public:
    using Row = CounterRow<Owner>;

    Counters(const char *category, std::vector<Row> rows, bool of_objects = false) : CounterTable(erased(category, rows), of_objects) {}

private:
    static std::vector<Counter> erased(const char *category, const std::vector<Row> &rows) {
        auto owner = [](const void *object) -> const Owner & { return *static_cast<const Owner *>(object); };
        std::vector<Counter> all;
        for (const Row &row : rows) {
            Counter &made = all.emplace_back(Counter{nullptr, row.name, category, row.kind, row.audience, row.unit, row.sentence, row.words,
                                                     row.places, {}, {}, {}});
            if (row.value) made.value_at = [owner, value = row.value](const void *object, int) { return value(owner(object)); };
            else made.value_at = [owner, value = row.value_at](const void *object, int place) { return value(owner(object), place); };
            if (row.places_of) made.places_of = [owner, places = row.places_of](const void *object) { return places(owner(object)); };
            if (row.peak) made.peak = [peak = row.peak](void *object) -> Peak & { return peak(*static_cast<Owner *>(object)); };
        }
        return all;
    }
};

// Registers an object while it exists. A member of the object's class, and the last one, so that it goes first.
class CounterSource {
public:
    template <class Owner>
    CounterSource(Counters<Owner> &table, std::type_identity_t<Owner> &owner) : table_(table), owner_(&owner) {
        table_.add(owner_);
    }
    ~CounterSource() { table_.remove(owner_); }
    CounterSource(const CounterSource &) = delete;
    CounterSource &operator=(const CounterSource &) = delete;

private:
    CounterTable &table_;
    void *owner_;
};

// The tables of the library, in order; said once, before anybody reads.
void declare_counters(std::vector<CounterTable *> tables);
const std::vector<CounterTable *> &counter_tables();
// nullptr: there is none.
const Counter *find_counter(std::string_view name);

}  // namespace lanyard
