#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks a table of records the questions of docs/questions.md, with DuckDB, and prints answers and times.

    bench_parquet ranks.parquet && python3 bench/questions.py ranks.parquet      (pip install duckdb)
"""
import pathlib
import re
import sys
import time

import duckdb

PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs" / "questions.md"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    duckdb.sql(f"create view records as select * from read_parquet('{sys.argv[1]}')")
    duckdb.sql("select count(*) from records").fetchall()  # the file is in the cache
    for title, query in re.findall(r"^## (.*?)\n.*?```sql\n(.*?)```", PAGE.read_text(), re.MULTILINE | re.DOTALL):
        begun = time.perf_counter()
        rows = duckdb.sql(query).fetchall()
        print(f"{title}: {time.perf_counter() - begun:.2f} s, {len(rows)} rows, the first {rows[0] if rows else None}")


if __name__ == "__main__":
    main()
