// SPDX-License-Identifier: Apache-2.0
// Workbench, export: points for TensorBoard's embedding projector.
#include <spotter/export/row_major.hpp>
#include <spotter/export/text.hpp>
#include <spotter/workbench/export.hpp>

namespace spotter::inline SPOTTER_ABI {

std::string projector_points(tensor_ref const& tensor, std::uint64_t& replaced) {
    std::string table;
    if (tensor.shape.rank < 2 || tensor.count == 0) { return table; }
    std::uint64_t const dimensions = tensor.count / tensor.shape.size[0];
    std::vector<double> const numbers = row_major_numbers(tensor, replaced);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        table += number_text(static_cast<double>(static_cast<float>(numbers[i])));
        table += (i + 1) % dimensions == 0 ? '\n' : '\t';
    }
    return table;
}

std::string projector_labels(std::vector<point_labels> const& columns, std::size_t points) {
    auto const field = [](std::string_view from) {
        std::string safe = utf8_text(from);
        for (char& letter : safe) { letter = letter == '\t' || letter == '\n' || letter == '\r' ? ' ' : letter; }
        return safe;
    };
    std::string table;
    for (std::size_t i = 0; columns.size() > 1 && i < columns.size(); ++i) {
        table += (i > 0 ? "\t" : "") + field(columns[i].title);
    }
    if (columns.size() > 1) { table += '\n'; }
    for (std::size_t row = 0; row < points; ++row) {
        for (std::size_t i = 0; i < columns.size(); ++i) {
            table += (i > 0 ? "\t" : "") + field(row < columns[i].words.size() ? columns[i].words[row] : "");
        }
        table += '\n';
    }
    return table;
}

std::string projector_entry(std::string_view name, std::string_view points, std::string_view labels) {
    auto const quoted = [](std::string_view from) {
        std::string text{'"'};
        for (char const letter : utf8_text(from)) {
            if (letter == '"' || letter == '\\') { text += '\\'; }
            text += letter == '\n' ? ' ' : letter;
        }
        return text + '"';
    };
    std::string entry = "embeddings {\n  tensor_name: " + quoted(name) + "\n  tensor_path: " + quoted(points) + '\n';
    if (!labels.empty()) { entry += "  metadata_path: " + quoted(labels) + '\n'; }
    return entry + "}\n";
}

}  // namespace spotter::inline SPOTTER_ABI
