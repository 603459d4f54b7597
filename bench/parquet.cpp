// SPDX-License-Identifier: Apache-2.0
// Speed and size of a Parquet table of many ranks. bench_parquet FILE keeps the table for bench/questions.py. A
// thousand ranks, a hundred steps, a hundred tensors. The faults: rank 137 has other weights from step 70 on, rank 512
// takes twice as long, the gradient of layer 7 grows from step 80 on, and nine of ten activations in layer 3 are zero.
#include "bench.hpp"
#include "scratch_folder.hpp"

#include <spotter/file/system.hpp>
#include <spotter/workbench/parquet.hpp>

#include <string>

using namespace spotter;

namespace {

std::vector<parquet_column> columns() {
    using type = parquet_type;
    return {{"run", type::text, false}, {"worker", type::i32, false},       {"attempt", type::i32, false},
            {"step", type::i64, true},  {"mode", type::text, true},         {"index", type::i64, true},
            {"time", type::f64, false}, {"seconds", type::f64, true},       {"name", type::text, false},
            {"role", type::text, true}, {"value", type::f64, true},         {"mean_abs", type::f64, true},
            {"l2", type::f64, true},    {"zero_fraction", type::f64, true}, {"nonfinite", type::f64, true},
            {"hash", type::i64, true},  {"rule", type::text, true}};
}

}  // namespace

int main(int count, char** arguments) {
    bench::scratch_folder const folder;
    std::filesystem::create_directories(folder.path());
    std::string const path = count > 1 ? arguments[1] : folder.path() + "/ranks.parquet";
    std::int64_t const ranks = static_cast<std::int64_t>(bench::rounds(1000, 10)), steps = 100, layers = 33;
    auto file = system_files().create(path);
    if (!file) {
        std::printf("cannot write %s\n", path.c_str());
        return 1;
    }
    std::uint64_t bytes = 0, seed = 1;
    auto const noise = [&] {
        seed = seed * 6364136223846793005U + 1442695040888963407U;
        return static_cast<double>(seed >> 40U) * 0x1p-24;
    };
    parquet_file table{columns(), [&](byte_view piece) {
                           bytes += piece.size();
                           return system_files().append(*file, piece);
                       }};
    error why;
    double const spent = bench::nanoseconds([&] {
        for (std::int64_t rank = 0; rank < ranks; ++rank) {
            for (std::int64_t step = 0; step < steps; ++step) {
                double const seconds = (rank == 512 ? 0.2 : 0.1) + 0.005 * noise();
                auto const begin = [&](std::string_view name, std::string_view role) {
                    table.put(0, std::string_view{"big"});
                    table.put(1, rank);
                    table.put(3, step);
                    table.put(4, std::string_view{"train"});
                    table.put(5, step);
                    table.put(6, 1.79e9 + 0.1 * static_cast<double>(step) + 0.001 * noise());
                    table.put(7, seconds);
                    table.put(8, name);
                    table.put(9, role);
                };
                begin("loss", "loss");
                table.put(10,
                          2.0 / (1.0 + 0.1 * static_cast<double>(step)) * (step > 90 ? 20.0 : 1.0) + 0.01 * noise());
                table.end_row();
                for (std::int64_t layer = 0; layer < layers; ++layer) {
                    std::string const title = "layer" + std::to_string(layer);
                    for (char const* const each : {"weight", "gradient", "activation"}) {
                        std::string_view const role = each;
                        begin(title + "/" + each, role);
                        bool const grows = role == "gradient" && layer == 7 && step >= 80;
                        table.put(11, 0.01 + 0.001 * noise());
                        table.put(12, (1 + 0.1 * noise()) * (grows ? static_cast<double>(step - 78) : 1.0));
                        table.put(13, role == "activation" ? (layer == 3 ? 0.9 : 0.4) + 0.05 * noise() : 0.0);
                        table.put(14, 0.0);
                        if (role == "weight") {
                            table.put(15, step * 1000 + layer + (rank == 137 && step >= 70 ? 1 : 0));
                        }
                        table.end_row();
                    }
                }
            }
        }
        why = table.finish();
    });
    if (why || system_files().close(*file)) { return 1; }
    auto const rows = static_cast<double>(table.rows());
    bench::figure("rows", rows, "");
    bench::figure("written", rows / spent * 1e3, "million rows/s");
    bench::figure("a row", static_cast<double>(bytes) / rows, "bytes");
}
