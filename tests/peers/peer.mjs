// The official TypeScript client against `local-agent mcp`: initialize, list, search, ask, verify.
//
//     npm install @modelcontextprotocol/sdk
//     cd a/folder/with/an/index && node path/to/peer.mjs path/to/local-agent

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const QUESTION = "At what temperature and humidity does the proofbox hold sourdough?";
const client = new Client({ name: "peer.mjs", version: "1" });
await client.connect(new StdioClientTransport({ command: process.argv[2], args: ["mcp"], stderr: "inherit" }));
const info = client.getServerVersion();
console.log("server:", info.name, info.version);
const { tools } = await client.listTools();
console.log("tools:", tools.map((tool) => tool.name).join(", "));

// The client itself holds every result against the tool's output schema.
async function call(name, args, options) {
  const result = await client.callTool({ name, arguments: args }, undefined, options);
  if (result.isError) throw new Error(result.content[0].text);
  return result.structuredContent;
}

const found = await call("search", { query: "proofbox temperature", limit: 2 });
for (const hit of found.hits) console.log("search:", hit.cite, hit.score.toFixed(2));
const onprogress = (step) => console.log("progress:", step.progress, step.message);
const asked = await call("ask", { question: QUESTION }, { onprogress });
console.log("ask:", asked.outcome);
console.log(asked.answer);
const own = await call("verify", { answer: asked.answer, run_id: asked.run_id });
console.log("verify:", own.outcome);
const changed = await call("verify", { answer: "The proofbox holds sourdough at 72 degrees [E1].", run_id: asked.run_id });
console.log("verify of a changed number:", changed.outcome, changed.claims[0].codes);
const refused = await client.callTool({ name: "get", arguments: { address: "../../etc/passwd" } });
console.log("get ../../etc/passwd:", refused.isError, refused.content[0].text);
const { prompts } = await client.listPrompts();
console.log("prompts:", prompts.map((prompt) => prompt.name).join(", "));
await client.close();
