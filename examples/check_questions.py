#!/usr/bin/env python3
"""Checks that questions.jsonl and vault/ agree. Standard library only; run from anywhere.

Promises: ids are unique; every expected file exists under exactly that name; every expected_substring
stands verbatim in the first expected file, and other_side (two notes that contradict each other) in the
second; unanswerable questions expect nothing. Prints what it counted; exits 1 naming every fault.
"""

import collections
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
VAULT = HERE / "vault"
LIMIT_BYTES = 250 * 1024  # the vault is compiled into the program


def faults_of(row, files):
    """Every way in which one question disagrees with the vault, as sentences."""
    expected = row["expected_files"]
    missing = [name for name in expected if name not in files]
    if missing:
        return [f"no such file: {name}" for name in missing]
    if not row["answerable"]:
        return ["unanswerable, but expects something"] if expected or "expected_substring" in row else []
    if not expected:
        return ["answerable, but expects no file"]
    faults = []
    if row["expected_substring"] not in files[expected[0]]:
        faults.append(f"not in {expected[0]}: {row['expected_substring']}")
    if "other_side" in row and (len(expected) < 2 or row["other_side"] not in files[expected[1]]):
        faults.append(f"other_side is not in the second file: {row['other_side']}")
    return faults


def main():
    # Bytes, then strict UTF-8: line endings and a BOM stay as they are.
    paths = sorted(path for path in VAULT.rglob("*.md") if path.is_file())
    files = {path.relative_to(VAULT).as_posix(): path.read_bytes().decode("utf-8") for path in paths}
    size = sum(path.stat().st_size for path in paths)
    lines = (HERE / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]

    faults = [f"{row['id']}: {fault}" for row in rows for fault in faults_of(row, files)]
    twice = [key for key, count in collections.Counter(row["id"] for row in rows).items() if count > 1]
    faults += [f"{key}: this id is used twice" for key in twice]
    if size > LIMIT_BYTES:
        faults.append(f"the vault has {size} bytes, more than {LIMIT_BYTES}")

    kinds = collections.Counter(row["kind"] for row in rows)
    languages = collections.Counter(row["language"] for row in rows)
    print(f"{len(files)} notes, {size} bytes; {len(rows)} questions")
    print("kinds:", dict(sorted(kinds.items())))
    print("languages:", dict(sorted(languages.items())))
    for fault in faults:
        print("fault:", fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
