// The official TypeScript client against `local-agent mcp`: initialize, list, search, ask, verify, resources, taking back; and
// against a running `serve` over HTTP, if its address and token are given.
//
//     npm install @modelcontextprotocol/sdk
//     cd a/folder/with/an/index && node path/to/peer.mjs path/to/local-agent [http://127.0.0.1:8377/mcp TOKEN]

import { appendFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";

const QUESTION = "At what temperature and humidity does the proofbox hold sourdough?";
const [program, url, token] = process.argv.slice(2);
const client = new Client({ name: "peer.mjs", version: "1" });
await client.connect(new StdioClientTransport({ command: program, args: ["mcp"], stderr: "inherit" }));
const info = client.getServerVersion();
console.log("server:", info.name, info.version);
const { tools } = await client.listTools();
console.log("tools:", tools.map((tool) => tool.name).join(", "));

// The client itself holds every result against the tool's output schema.
async function call(client, name, args, options) {
  const result = await client.callTool({ name, arguments: args }, undefined, options);
  if (result.isError) throw new Error(result.content[0].text);
  return result.structuredContent;
}

const found = await call(client, "search", { query: "proofbox temperature", limit: 2 });
for (const hit of found.hits) console.log("search:", hit.cite, hit.score.toFixed(2));
const onprogress = (step) => console.log("progress:", step.progress, step.message);
const asked = await call(client, "ask", { question: QUESTION }, { onprogress });
console.log("ask:", asked.outcome);
console.log(asked.answer);
const own = await call(client, "verify", { answer: asked.answer, run_id: asked.run_id });
console.log("verify:", own.outcome);
const changed = await call(client, "verify", {
  answer: "The proofbox holds sourdough at 72 degrees [E1].",
  run_id: asked.run_id,
});
console.log("verify of a changed number:", changed.outcome, changed.claims[0].codes);
const refused = await client.callTool({ name: "get", arguments: { address: "../../etc/passwd" } });
console.log("get ../../etc/passwd:", refused.isError, refused.content[0].text);
const { prompts } = await client.listPrompts();
console.log("prompts:", prompts.map((prompt) => prompt.name).join(", "));

const loose = await call(client, "search", { query: "proofbox", limit: "1", path: "projects" });
console.log('search with "1" and one word:', loose.hits.map((hit) => hit.rel_path));
const remembered = await call(client, "memory_search", { query: "proofbox" });
console.log("memory:", remembered.memories.length);

const { resources } = await client.listResources();
const { resourceTemplates } = await client.listResourceTemplates();
console.log("resources:", resources.length, resourceTemplates[0].uriTemplate);
const uri = resources.find((one) => one.uri.endsWith("Proofbox.md")).uri;
const read = await client.readResource({ uri });
console.log("resource:", uri, read.contents[0].text.split("\n")[0]);
const updated = new Promise((resolve) =>
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, (told) => resolve(told.params.uri)),
);
await client.subscribeResource({ uri });
appendFileSync("projects/Proofbox.md", "\nAdded by peer.mjs.\n");
console.log("updated:", await updated);
await client.unsubscribeResource({ uri });

// A call that is given up leaves the session as it was.
const aborted = new AbortController();
const given = client.callTool({ name: "multi_get", arguments: { glob: "**/*.md" } }, undefined, { signal: aborted.signal });
aborted.abort("enough");
await given.catch(() => undefined);
console.log("after a call that was given up:", (await call(client, "search", { query: "proofbox", limit: 1 })).outcome);
await client.close();

if (url) {
  const over = new Client({ name: "peer.mjs", version: "1" });
  const headers = { Authorization: `Bearer ${token}` };
  await over.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  const hit = (await call(over, "search", { query: "proofbox temperature", limit: 1 })).hits[0];
  console.log("over HTTP:", hit.cite);
  console.log("resources:", (await over.listResources()).resources.length);
  const steps = [];
  await call(over, "ask", { question: QUESTION }, { onprogress: (step) => steps.push(step.message) });
  console.log("progress over HTTP:", steps.length > 0);
  await over.close();
}
