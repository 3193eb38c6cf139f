// Writes a manual page from a CLI11 command line, so that --help and man(1) never differ.
#include <CLI/CLI.hpp>

#include "tools/commands.h"

namespace lanyard::tools {

namespace {

// Text with the characters that troff would take for itself protected.
std::string plain(const std::string &text) {
    std::string safe;
    for (char letter : text) {
        if (letter == '\\' || letter == '-') safe += '\\';
        if (safe.empty() && (letter == '.' || letter == '\'')) safe += "\\&";
        safe += letter;
    }
    return safe;
}

void add_options(const CLI::App &app, std::string &page) {
    for (const CLI::Option *option : app.get_options()) {
        if (option->get_group().empty() || option->get_description().empty()) continue;
        std::string values = option->get_type_size() != 0 ? " " + option->get_type_name() : "";
        page += ".TP\n.B " + plain(option->get_name(false, true)) + plain(values) + "\n" + plain(option->get_description()) + "\n";
    }
}

}  // namespace

std::string manual_page(const CLI::App &app, const std::string &version) {
    std::string name = app.get_name();
    std::string page = ".TH " + name + " 1 \"\" \"Lanyard " + version + "\"\n.SH NAME\n" + name + " \\- tells about Lanyard and this machine\n";
    page += ".SH SYNOPSIS\n";
    for (const CLI::App *sub : app.get_subcommands({})) page += ".B " + name + " " + sub->get_name() + "\n[OPTIONS]\n.br\n";
    page += ".SH DESCRIPTION\n" + plain(app.get_description()) + "\n.SH OPTIONS\n";
    add_options(app, page);
    for (const CLI::App *sub : app.get_subcommands({})) {
        page += ".SH " + name + " " + sub->get_name() + "\n" + plain(sub->get_description()) + "\n";
        add_options(*sub, page);
    }
    return page + ".SH SEE ALSO\n.BR mpirun (1),\n.BR mpicc (1)\n";
}

}  // namespace lanyard::tools
