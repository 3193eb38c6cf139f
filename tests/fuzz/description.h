// Inputs of binary targets are stored as text that people can read. Words of a description:
//
//     4:16        the number 16 in 4 bytes, lowest first
//     4:0x10      the same
//     "text"      these characters
//     100*"a"     something a hundred times
//     # ...       to the end of the line: for readers
//
// A file of a corpus is a description when its name ends in .bytes; any other is taken as it is.
#pragma once

#include <string>

namespace lanyard::fuzz {

// Ends the process with the word that is none, as that is a mistake in a file of ours.
std::string bytes_of_description(const std::string &text, const std::string &file);

}  // namespace lanyard::fuzz
