// See counters.h.
#include "base/counters.h"

#include <algorithm>
#include <mutex>

namespace lanyard {

namespace {

std::mutex &register_lock() {
    static auto &only = *new std::mutex;
    return only;
}

std::vector<CounterTable *> &declared() {
    static auto &only = *new std::vector<CounterTable *>;
    return only;
}

bool adds_up(const Counter &row) {
    return row.kind == CounterClass::counter || row.kind == CounterClass::timer;
}

}  // namespace

CounterTable::CounterTable(std::vector<Counter> rows, bool of_objects)
    : rows_(std::move(rows)), of_objects_(of_objects), ended_(rows_.size()) {
    for (Counter &row : rows_) row.table = this;
}

void CounterTable::add(void *object) {
    std::lock_guard guard(register_lock());
    objects_.push_back(object);
}

void CounterTable::remove(void *object) {
    std::lock_guard guard(register_lock());
    for (const Counter &row : rows_) {
        if (adds_up(row)) ended(row) += row.value_at(object, 0);
        if (row.peak) ended(row) = std::max(ended(row), row.peak(object).highest());
    }
    objects_.erase(std::find(objects_.begin(), objects_.end(), object));
}

uint64_t Counter::value(int place) const {
    std::lock_guard guard(register_lock());
    uint64_t sum = adds_up(*this) ? table->ended(*this) : 0;
    for (const void *object : table->objects())
        if (!places_of || place < places_of(object)) sum += value_at(object, place);
    return sum;
}

int Counter::places_now() const {
    std::lock_guard guard(register_lock());
    return places_of && !table->objects().empty() ? places_of(table->objects().front()) : places;
}

uint64_t Counter::highest() const {
    std::lock_guard guard(register_lock());
    uint64_t most = table->ended(*this);
    for (void *object : table->objects()) most = std::max(most, peak(object).highest());
    return most;
}

uint64_t Counter::begin_anew() const {
    std::lock_guard guard(register_lock());
    uint64_t most = std::exchange(table->ended(*this), 0);
    for (void *object : table->objects()) {
        most = std::max(most, peak(object).begin_anew());
        peak(object).raise(value_at(object, 0));
    }
    return most;
}

void declare_counters(std::vector<CounterTable *> tables) {
    std::lock_guard guard(register_lock());
    if (declared().empty()) declared() = std::move(tables);
}

const std::vector<CounterTable *> &counter_tables() { return declared(); }

const Counter *find_counter(std::string_view name) {
    for (const CounterTable *table : counter_tables())
        for (const Counter &row : table->rows())
            if (row.name == name) return &row;
    return nullptr;
}

}  // namespace lanyard
