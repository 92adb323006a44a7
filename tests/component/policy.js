// A small policy in JavaScript: hides the lines that speak of a secret, keeps the last ten, and passes on exit code 0.
//
// It follows the contract in wit/ and nothing else, to show that a policy can be written in any language. The tests
// make a component of it with componentize-qjs.

const write = (value) => ({ json: JSON.stringify(value) });
const fault = (code, message) => ({ code, message });

function read(text) {
  try {
    const value = JSON.parse(text);
    if (value !== null && typeof value === "object" && !Array.isArray(value)) return value;
  } catch {}
  throw fault("invalid-json", "not a JSON object");
}

// The engine has no TextEncoder, and its strings are UTF-16.
function encoded(text) {
  return Array.from(unescape(encodeURIComponent(text)), (letter) => letter.charCodeAt(0));
}
function decoded(bytes) {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  try {
    return decodeURIComponent(escape(text));
  } catch {
    return text.replace(/[^\x00-\x7f]/g, "\ufffd");
  }
}

function crc32c(bytes) {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
  }
  return ((crc ^ 0xffffffff) >>> 0).toString(16).padStart(8, "0");
}

class Policy {
  constructor(text, known) {
    this.own = text.trim() ? read(text) : {};
    this.known = Object.entries(known ? read(known) : {})
      .filter(([name, value]) => /TOKEN|PASSWORD/.test(name) && value.length > 7)
      .map(([, value]) => value);
  }
  static parse(text, known) {
    return new this(text, known);
  }
  settings() {
    return write({
      record_file: this.own.record_file ?? null, env_files: [], timeout_ms: null, grace_ms: null,
      keep_output: false, keep_output_max_bytes: 65536, max_same_failures: null,
    });
  }
  effective() {
    return write(this.own);
  }
  plan(request) {
    const { expect = [], inputs = [] } = read(request);
    return write({ requirement: null, expect, inputs });
  }
  rules() {
    return write([{ id: "secret", description: "a line that speaks of a secret", scope: "line", example: "the secret is out", counter_example: "nothing to hide" }]);
  }
  redact(text) {
    let findings = 0;
    const hide = (line) => {
      if (!line.includes("secret") && !this.known.some((value) => line.includes(value))) return line;
      findings += 1;
      return "[HIDDEN]";
    };
    return { text: text.split("\n").map(hide).join("\n"), findings };
  }
}

class Filter {
  constructor(policy) {
    Object.assign(this, { policy, held: [], findings: 0 });
  }
  static start(policy) {
    return new this(policy);
  }
  push(bytes) {
    const all = [...this.held, ...bytes];
    const end = all.lastIndexOf(10) + 1;
    this.held = all.slice(end);
    const redacted = this.policy.redact(decoded(all.slice(0, end)));
    this.findings += redacted.findings;
    return redacted.text;
  }
  static finish(filter) {
    const { text, findings } = filter.policy.redact(decoded(filter.held));
    return { text, findings: findings + filter.findings };
  }
}

class Audit {
  lines = 0;
  static start() {
    return new this();
  }
  push(bytes) {
    this.lines += bytes.filter((byte) => byte === 10).length;
    return [];
  }
  static finish(audit) {
    return { sightings: [], lines: audit.lines, records: 0 };
  }
}

class Capture {
  constructor(policy) {
    Object.assign(this, { policy, streams: { stdout: [], stderr: [] }, flushed: {}, seen: {} });
  }
  static start(policy) {
    return new this(policy);
  }
  push(source, bytes) {
    if (this.flushed[source]) return;
    for (const byte of bytes) this.streams[source].push(byte);
  }
  pushThrough(source, bytes) {
    this.push(source, bytes);
    return { takenBack: 0, text: "" }; // nothing is certain before the end
  }
  flush(source) {
    const text = this.flushed[source] ? "" : this.policy.redact(decoded(this.streams[source])).text;
    this.flushed[source] = true;
    return { takenBack: 0, text };
  }
  end(source) {
    this.seen[source] = true;
  }
  newestLine() {
    return "";
  }
  kept() {
    const kept = {};
    let count = 0;
    for (const [name, bytes] of Object.entries(this.streams)) {
      const redacted = this.policy.redact(decoded(bytes).replace(/\n$/, ""));
      const lines = bytes.length ? redacted.text.split("\n") : [];
      count += redacted.findings;
      kept[name + "_tail"] = lines.slice(-10).join("\n");
      kept[name] = { bytes: bytes.length, lines: lines.length, end_seen: Boolean(this.seen[name]) };
    }
    return { ...kept, redactions: { count, rules: count ? { secret: count } : {} } };
  }
  static finish(capture) {
    return write(capture.kept());
  }
}

function judge(line) {
  const record = read(line);
  if (record.kind === "run" && record.outcome === "exited" && record.exit_code === 0) return [];
  const code = record.kind === "fallback" ? "fallback-record" : "non-zero-exit";
  return [{ code, commandId: record.command_id ?? "", message: "the JavaScript policy wants exit code 0", remedy: "", requirement: "" }];
}
function verdict(reasons, judged) {
  if (!judged) reasons = [{ code: "no-records", commandId: "", message: "no record", remedy: "", requirement: "" }];
  const decision = !judged ? "undecided" : reasons.length ? "refuse" : "pass";
  return { decision, reasons, judged, superseded: [], evidence: [] };
}

class Review {
  reasons = [];
  judged = 0;
  static start(policy, facts) {
    read(facts);
    return new this();
  }
  consider(line) {
    this.judged += 1;
    this.reasons.push(...judge(line));
  }
  neededInputs() {
    return write([]);
  }
  seeInputs(sight) {
    read(sight);
  }
  scope() {
    return write({ requirements: 0 });
  }
  static conclude(review) {
    return verdict(review.reasons, review.judged);
  }
}

class History {
  static start() {
    return new this();
  }
  consider() {}
  next(policy, request) {
    const { parent_command_id = null, attempt = 1 } = read(request);
    return write({ parent_command_id, attempt, refusal: null });
  }
  chain() {
    return write({ chain: [] });
  }
}

export const types = {};
export const about = {
  describe: () => ({ name: "javascript-example", version: "0.1.0", contract: "0.1.0", recordSchema: "1.0", ruleSet: "00000000" }),
};
export const policies = { Policy, schema: () => write({}) };
export const redaction = { Filter, Audit, redact: (policy, text) => policy.redact(text) };
export const captures = { Capture };
export const chains = { History };
export const gate = { Review, mayContinue: (policy, line) => verdict(judge(line), 1) };
export const records = {
  intend(policy, request) {
    const { command, cwd, agent_note, ...rest } = read(request);
    const hidden = (text) => (text === null || text === undefined ? null : policy.redact(text).text);
    return write({
      schema_version: "1.0", kind: "intent", ...rest, agent_note: hidden(agent_note), cwd: hidden(cwd.text),
      command: command.map((argument) => hidden(argument.text)),
    });
  },
  build(policy, intent, captured, ending) {
    const { outcome, duration_ms, error } = read(ending);
    const failed = outcome.kind === "exited" ? {} : { error: policy.redact(error ?? outcome.kind).text };
    return write({
      ...read(intent), kind: "run", duration_ms, outcome: outcome.kind, exit_code: outcome.code ?? null, ...failed,
      ...captured.kept(),
    });
  },
  recover: (intent) =>
    write({
      ...read(intent), kind: "run", duration_ms: null, outcome: "runner-died", exit_code: null, error: "the runner died",
      stdout_tail: "", stderr_tail: "",
    }),
  noteDrop: (facts) => write({ schema_version: "1.0", kind: "drop", ...read(facts) }),
  seal(body, seq, prev) {
    read(body);
    const line = `${body.trim().slice(0, -1)},"seq":${seq},"prev":"${prev}"`;
    return { line: `${line},"crc":"${crc32c(encoded(line))}"}` };
  },
  check(line) {
    const start = line.lastIndexOf('{"schema_version"');
    const end = line.lastIndexOf(',"crc":"');
    if (start < 0 || end < start || line.slice(end) !== `,"crc":"${crc32c(encoded(line.slice(start, end)))}"}`)
      throw fault("damaged-record", "no record on the line matches its checksum");
    const record = read(line.slice(start));
    return {
      commandId: record.command_id, seq: record.seq, prev: record.prev,
      length: encoded(line.slice(start)).length, offset: encoded(line.slice(0, start)).length,
    };
  },
  identify(text) {
    const document = read(text);
    return { commandId: document.command_id, kind: document.kind === "intent" ? "intent" : "body" };
  },
};
