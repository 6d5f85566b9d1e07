#!/usr/bin/env node
// Starts the program of this platform. Each platform's package holds one file, `local-agent` or `local-agent.exe`;
// npm installs only the package whose `os` and `cpu` fit. Nothing is downloaded here.
"use strict";

const { spawnSync } = require("node:child_process");

const platform = `${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "local-agent.exe" : "local-agent";

let program;
try {
  program = require.resolve(`local-agent-${platform}/${file}`);
} catch {
  console.error(`local-agent: there is no package for ${platform}, or optional packages were left out`);
  console.error("fix: npm install --include=optional local-agent, or build it: cargo install --path .");
  process.exit(1);
}

const run = spawnSync(program, process.argv.slice(2), { stdio: "inherit" });
if (run.error) {
  console.error(`local-agent: ${program} cannot be started: ${run.error.message}`);
  process.exit(1);
}
process.exit(run.status === null ? 1 : run.status);
