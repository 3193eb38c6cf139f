// See report.h.
#include "bench/programs/report.h"

#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace lanyard::bench {

Report::Report(std::string name, std::string library, std::string host, int ranks, Columns columns, bool json,
               bool speaks)
    : name_(std::move(name)), library_(std::move(library)), host_(std::move(host)), ranks_(ranks),
      columns_(std::move(columns)), json_(json), speaks_(speaks) {
    if (speaks_ && !json_) print_heading();
}

void Report::add_size(std::size_t bytes, const Summary& summary) { add({bytes, "", columns_.unit, summary}); }

void Report::add_named_size(const std::string& label, std::size_t bytes, const std::string& unit,
                            const Summary& summary) {
    add({bytes, label, unit, summary});
}

void Report::add_named(const std::string& label, const std::string& unit, const Summary& summary) {
    add({std::nullopt, label, unit, summary});
}

void Report::add(Row row) {
    if (speaks_ && !json_) print_row(row);
    rows_.push_back(std::move(row));
}

void Report::note(const std::string& text) {
    if (!speaks_ || json_) return;
    fmt::print("{}", text);
    std::fflush(stdout);
}

void Report::finish() {
    if (speaks_ && json_) print_json();
}

void Report::print_heading() const {
    fmt::print("# {}: {}, median of the samples with its 95 % interval\n", name_, columns_.quantity);
    if (!library_.empty())
        fmt::print("# {} | {} rank{} | {}\n", library_, ranks_, ranks_ == 1 ? "" : "s", host_);
    fmt::print("# {:>10} {:>12} {:>12} {:>12} {:>12}  {}\n", columns_.has_sizes ? "bytes" : "", "median",
               "low", "high", "smallest", "unit");
    std::fflush(stdout);
}

void Report::print_row(const Row& row) const {
    std::string first = row.bytes ? fmt::format("{}", *row.bytes) : row.label;
    std::string unit =
        row.bytes && !row.label.empty() ? fmt::format("{:<5} {}", row.unit, row.label) : row.unit;
    const Summary& s = row.summary;
    fmt::print("{:>12} {:>12.4g} {:>12.4g} {:>12.4g} {:>12.4g}  {}\n", first, s.median, s.low, s.high,
               s.smallest, unit);
    std::fflush(stdout);
}

void Report::print_json() const {
    nlohmann::ordered_json object;
    object["benchmark"] = name_;
    object["quantity"] = columns_.quantity;
    if (!library_.empty()) {
        object["library"] = library_;
        object["ranks"] = ranks_;
    }
    object["host"] = host_;
    if (sent_bytes_ > 0) object["sent_bytes"] = sent_bytes_;
    object["results"] = nlohmann::ordered_json::array();
    for (const Row& row : rows_) {
        nlohmann::ordered_json entry;
        if (row.bytes) entry["bytes"] = *row.bytes;
        if (!row.label.empty()) entry["name"] = row.label;
        const Summary& s = row.summary;
        entry["unit"] = row.unit;
        entry["median"] = s.median;
        entry["low"] = s.low;
        entry["high"] = s.high;
        entry["smallest"] = s.smallest;
        entry["largest"] = s.largest;
        entry["samples"] = s.samples;
        object["results"].push_back(std::move(entry));
    }
    std::string text = object.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
}

}  // namespace lanyard::bench
