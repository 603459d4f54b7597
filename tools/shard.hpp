// SPDX-License-Identifier: Apache-2.0
// Command line, `check --shard`: which part of the records one of several processes judges.
#pragma once

#include <spotter/core/result.hpp>
#include <spotter/format/names.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

namespace spotter_tool {

// The part and the number of parts, from "3/16", or from "rank", whose values the launcher of the process sets.
struct shard {
    std::uint64_t part = 0, parts = 1;
};
[[nodiscard]] inline spotter::result<shard> read_shard(std::string const& text) {
    spotter::error wrong{
        spotter::errc::bad_config,
        "--shard takes a part of how many, as 3/16, or `rank` of a process that mpirun or srun started, not \""};
    wrong.what << text << "\"";
    auto const number = [](std::string_view digits) { return spotter::detail::number_in(digits); };
    if (text.empty()) { return shard{}; }
    if (text == "rank") {
        constexpr std::pair<char const*, char const*> names[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                                                 {"PMI_RANK", "PMI_SIZE"},
                                                                 {"SLURM_PROCID", "SLURM_NTASKS"}};
        for (auto const& [rank_name, size_name] : names) {
            char const* const rank = std::getenv(rank_name);
            char const* const size = std::getenv(size_name);
            if (rank == nullptr || size == nullptr) { continue; }
            std::int64_t const part = number(rank), parts = number(size);
            if (part < 0 || part >= parts) { return wrong; }
            return shard{static_cast<std::uint64_t>(part), static_cast<std::uint64_t>(parts)};
        }
        return wrong;
    }
    std::size_t const slash = text.find('/');
    if (slash == std::string::npos) { return wrong; }
    std::int64_t const part = number(std::string_view{text}.substr(0, slash));
    std::int64_t const parts = number(std::string_view{text}.substr(slash + 1));
    if (part < 1 || part > parts) { return wrong; }
    return shard{static_cast<std::uint64_t>(part - 1), static_cast<std::uint64_t>(parts)};
}

}  // namespace spotter_tool
