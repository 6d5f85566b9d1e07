#!/usr/bin/env python3
"""Lays the example vault and its answerable questions out as a set for `local-agent eval`.

    python3 benches/example_set.py DIR
"""

import json
import pathlib
import shutil
import sys


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    examples = pathlib.Path(__file__).resolve().parent.parent / "examples"
    out = pathlib.Path(sys.argv[1])
    shutil.copytree(examples / "vault", out / "docs", dirs_exist_ok=True)
    asked = [json.loads(line) for line in (examples / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    answerable = [one for one in asked if one["expected_files"]]
    queries = [json.dumps({"id": one["id"], "text": one["question"]}, ensure_ascii=False) for one in answerable]
    grades = [f"{one['id']}\t{path}\t1" for one in answerable for path in one["expected_files"]]
    (out / "queries.jsonl").write_text("\n".join(queries) + "\n", encoding="utf-8")
    (out / "qrels.tsv").write_text("\n".join(grades) + "\n", encoding="utf-8")
    print(f"{len(answerable)} questions in {out}")


if __name__ == "__main__":
    main()
