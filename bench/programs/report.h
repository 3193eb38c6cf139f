// Prints the results of a benchmark program: a table that grows row by row, or one JSON object at the end. A
// report exists on every rank, so that the measuring code is the same everywhere. Only the rank with `speaks`
// (rank 0) prints. One thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/programs/statistics.h"

namespace lanyard::bench {

// The quantity that a program measures.
struct Columns {
    std::string quantity;  // "half round trip"
    std::string unit;      // "us"
    bool has_sizes = true;
};

class Report {
public:
    Report(std::string name, std::string library, std::string host, int ranks, Columns columns, bool json,
           bool speaks);

    // These functions add one row. `label` names a row that is not a size, or one of several quantities of a
    // size.
    void add_size(std::size_t bytes, const Summary& summary);
    void add_named_size(const std::string& label, std::size_t bytes, const std::string& unit,
                        const Summary& summary);
    void add_named(const std::string& label, const std::string& unit, const Summary& summary);
    // Counts the bytes of messages from one process to another. The number of bytes shows which path the
    // messages used (bench/proof.py). Only the JSON has this count.
    void count_sent(long messages, double message_bytes) {
        sent_bytes_ += static_cast<double>(messages) * message_bytes;
    }
    void note(const std::string& text);  // prints lines below the last row; not in the JSON
    void finish();

private:
    struct Row {
        std::optional<std::size_t> bytes;
        std::string label;
        std::string unit;
        Summary summary;
    };
    void add(Row row);
    void print_heading() const;
    void print_row(const Row& row) const;
    void print_json() const;

    std::string name_;
    std::string library_;
    std::string host_;
    int ranks_;
    Columns columns_;
    bool json_;
    bool speaks_;
    double sent_bytes_ = 0;
    std::vector<Row> rows_;
};

}  // namespace lanyard::bench
