#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks a table of records the questions of docs/questions.md, with DuckDB or Spark, and prints answers and times.

    bench_parquet ranks.parquet && python3 bench/questions.py ranks.parquet              (pip install duckdb)
                                   python3 bench/questions.py ranks.parquet --spark      (pip install pyspark; Java 17)
"""
import pathlib
import re
import sys
import time

PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs" / "questions.md"


def with_duckdb(table):
    import duckdb
    duckdb.sql(f"create view records as select * from read_parquet('{table}')")
    return lambda query: duckdb.sql(query).fetchall()


def with_spark(table):
    from pyspark.sql import SparkSession
    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.driver.bindAddress", "127.0.0.1") \
        .config("spark.driver.host", "127.0.0.1").config("spark.log.level", "ERROR").getOrCreate()
    spark.read.parquet(table).createOrReplaceTempView("records")
    return lambda query: [tuple(row) for row in spark.sql(query).collect()]


def main():
    table, *how = sys.argv[1:] or sys.exit(__doc__)
    if how not in ([], ["--spark"]):
        sys.exit(__doc__)
    ask = with_spark(table) if how else with_duckdb(table)
    ask("select count(*) from records")  # the file is in the cache
    for title, query in re.findall(r"^## (.*?)\n.*?```sql\n(.*?)```", PAGE.read_text(), re.MULTILINE | re.DOTALL):
        begun = time.perf_counter()
        rows = ask(query)
        print(f"{title}: {time.perf_counter() - begun:.2f} s, {len(rows)} rows, the first {rows[0] if rows else None}")


if __name__ == "__main__":
    main()
