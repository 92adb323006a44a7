// Plays tests/vectors/*.json on a component that jco has transpiled. Notation: tests/vectors/README.md.
// usage: node vectors.mjs TRANSPILED.js VECTORS
import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";

const [, , module, folder] = process.argv;
const camel = (name) => name.replace(/-(.)/g, (_, letter) => letter.toUpperCase());
const kebab = (name) => name.replace(/[A-Z]/g, (letter) => "-" + letter.toLowerCase());
const pascal = (name) => camel("-" + name);

function pieces(value, kept) {
  return Buffer.concat(value.map((piece) => {
    if (typeof piece === "string") return Buffer.from(piece);
    if ("hex" in piece) return Buffer.from(piece.hex, "hex");
    return Buffer.from("kept" in piece ? kept[piece.kept] : piece.repeat.repeat(piece.times));
  }));
}
function argument(value, kept) {
  if (typeof value === "number") return BigInt(value);
  if (typeof value !== "object") return value;
  const [[key, inner]] = Object.entries(value);
  if (key === "text") return pieces(inner, kept).toString();
  if (key === "bytes") return new Uint8Array(pieces(inner, kept));
  if (key === "json") return JSON.stringify(inner);
  return key === "u64" ? BigInt(inner) : kept[inner];
}
function shown(value) {
  if (typeof value === "bigint") return value > Number.MAX_SAFE_INTEGER ? String(value) : Number(value);
  if (typeof value === "string" && Buffer.byteLength(value) > 1500)
    return { sha256: createHash("sha256").update(value).digest("hex"), bytes: Buffer.byteLength(value) };
  if (Array.isArray(value)) return value.map(shown);
  if (value === undefined || value === null) return null;
  if (typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [kebab(key), shown(item)]));
}
function make(host, name, args) {
  const [iface, resource, method] = name.split(".");
  if (method === undefined) return host[iface][camel(resource)](...args);
  const kind = host[iface][pascal(resource)];
  return kind[camel(method)] ? kind[camel(method)](...args) : args[0][camel(method)](...args.slice(1));
}

let calls = 0;
const wrong = [];
for (const name of readdirSync(folder).filter((name) => name.endsWith(".json")).sort()) {
  for (const session of JSON.parse(readFileSync(join(folder, name), "utf8")).sessions) {
    const host = await import(pathToFileURL(module).href + `?session=${calls}`); // a fresh instance
    const kept = {};
    for (const call of session.calls) {
      const found = Object.fromEntries(["call", "with", "keep"].filter((key) => key in call).map((key) => [key, call[key]]));
      calls += 1;
      try {
        const answer = make(host, call.call, call.with.map((value) => argument(value, kept)));
        const plain = answer === undefined || typeof answer !== "object" || [Object, Array].includes(answer.constructor);
        if (plain) found.gives = shown(answer);
        if (call.keep) kept[call.keep] = plain ? (answer.json ?? answer.line) : answer;
      } catch (error) {
        if (error.payload === undefined) throw error; // a trap
        found.fault = shown(error.payload);
      }
      if (!isDeepStrictEqual(found, call)) wrong.push(`${name}: ${session.name}:\n  wanted ${JSON.stringify(call)}\n  found  ${JSON.stringify(found)}`);
    }
  }
}
console.log(wrong.join("\n") || `${calls} calls agree`);
process.exit(wrong.length ? 1 : 0);
