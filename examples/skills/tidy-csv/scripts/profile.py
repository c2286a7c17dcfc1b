"""Prints the separator, the columns and the missing values of a CSV file."""
import csv
import sys

with open(sys.argv[1], newline="", encoding="utf-8-sig") as file:
    dialect = csv.Sniffer().sniff(file.read(65536), delimiters=",;\t|")
    file.seek(0)
    rows = csv.DictReader(file, dialect=dialect)
    missing = {name: 0 for name in rows.fieldnames or []}
    count = 0
    for row in rows:
        count += 1
        for name, value in row.items():
            if name in missing and not (value or "").strip():
                missing[name] += 1

print(f"separator {dialect.delimiter!r}, {count} rows")
for name, number in missing.items():
    print(f"{name}: {number} missing")
