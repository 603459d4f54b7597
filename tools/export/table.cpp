// SPDX-License-Identifier: Apache-2.0
// Command line, `export`: Parquet, as a file or as a data set with one folder for each run.
#include "../folders.hpp"
#include "../new_file.hpp"
#include "job.hpp"

#include <spotter/workbench/parquet.hpp>

namespace spotter_tool {

using namespace spotter;

error to_parquet(export_job& job) {
    std::string const run = tidy(job.wanted.path), name = run.substr(run.rfind('/') + 1), out = tidy(job.wanted.out);
    bool const is_file = out.ends_with(".parquet");
    // Engines read the folder's name as a column of the data set, so the file does not have it.
    std::string const path = is_file ? out : out + "/run=" + file_name_of(name) + "/run.parquet";
    new_file file{path, job.wanted.force};
    if (file.trouble()) { return file.trouble(); }
    parquet_writer table{{job.choice, is_file ? name : std::string{}},
                         [&](byte_view bytes) { return file.put(bytes); }};
    progress bar{"export", {job.bytes}};
    if (job.run.workers().size() > 1) {  // each is closed before the next
        for (std::uint32_t const number : job.run.workers()) {
            auto const one = open_trial(run, worker{number});
            if (!one) { return one.error(); }
            counted_reading const counting{*one, bar};
            table.add(*one);
        }
    } else {
        counted_reading const counting{job.run, bar};
        table.add(job.run);
    }
    error why = table.finish();
    if (!why) { why = file.finish(); }
    if (!why) { job.done.files.push_back(path); }
    job.take(table.counts());
    return why;
}

}  // namespace spotter_tool
