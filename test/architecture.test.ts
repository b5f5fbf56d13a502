/**
 * The architecture as a test: who may import whom (type imports included), no cycles, where clocks, randomness and the
 * environment may appear, and that nothing evaluates text as code. The rules are the tables below; each checker is
 * shown to fail on a small source that breaks its rule.
 */
import { posix } from "node:path";
import { describe, expect, test } from "vitest";
import {
  isTest,
  isTypeScript,
  literalText,
  parse,
  projectFiles,
  read,
  type SyntaxNode,
  visit,
} from "./project.ts";

/** Folders (or files) of `src` and what each may import besides itself. A file in place of a folder means only that file. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  "errors.ts": [],
  "limits.ts": [],
  core: [],
  check: ["core"],
  ecmascript: ["core"],
  data: ["core"],
  store: ["core"],
  runtime: ["core", "store"],
  agent: ["core", "store", "runtime"],
  security: ["core", "store"],
  server: ["core", "store", "runtime", "agent", "security", "check"],
  interop: ["runtime/runtime.ts"],
  telemetry: ["core", "store", "runtime"],
  client: ["server/contract.ts", "server/contract"],
  testing: ["core", "store", "runtime", "check"],
  cli: [
    "core",
    "check",
    "ecmascript",
    "store",
    "runtime",
    "agent",
    "security",
    "server",
    "interop",
    "client",
    "telemetry",
  ],
  "index.ts": ["errors.ts", "limits.ts", "core", "check", "store", "runtime"],
};
/** Importable by all of `src`. */
const openToAll = ["errors.ts", "limits.ts"];
/** What stands outside `src` may import anything of it, except where this says otherwise; `src` never imports any of it. */
const outsideMayImport: Readonly<Record<string, readonly string[]>> = {
  studio: ["server/contract.ts", "server/contract", "client"],
};

/** Parts that touch nothing of the platform: no `node:` module, and only these packages, each for its reason. */
const packagesOfPureParts: Readonly<
  Record<string, readonly { name: string; under: string; reason: string }[]>
> = {
  "errors.ts": [],
  "limits.ts": [],
  core: [
    {
      name: "@standard-schema/spec",
      under: "core/",
      reason: "the types that schema libraries agree on; there is no code in it",
    },
    {
      name: "saxes",
      under: "core/formats/scxml",
      reason:
        "XML has entities, namespaces and encodings; a strict streaming parser without I/O already exists",
    },
    {
      name: "@marcbachmann/cel-js",
      under: "core/expression",
      reason: "CEL has a grammar of its own; only the parser is used, which has no I/O",
    },
    {
      name: "re2js",
      under: "core/pattern.ts",
      reason:
        "patterns of strangers must be matched in linear time, which the platform's own engine does not promise",
    },
    {
      name: "yaml",
      under: "core/formats/yaml",
      reason: "YAML is far too large to read by hand; a parser without I/O already exists",
    },
    {
      name: "@standard-schema/spec",
      under: "core/json-schema",
      reason: "types only: what all schema libraries have agreed on",
    },
  ],
  check: [],
  ecmascript: [
    {
      name: "quickjs-emscripten-core",
      under: "ecmascript/",
      reason:
        "imported SCXML brings ECMAScript, which must run in a sandbox and never in this process's own engine",
    },
    {
      name: "@jitl/quickjs-wasmfile-release-sync",
      under: "ecmascript/",
      reason: "the WebAssembly build of that sandbox",
    },
  ],
};

/** The only places that may read a clock, throw dice, wait or look at the environment. */
const ambientAllowed = ["runtime/clock.ts", "runtime/ids.ts", "cli"];
/** Names that a file may use all the same, for this reason. */
const ambientGranted: Readonly<
  Record<string, { readonly names: readonly string[]; readonly reason: string }>
> = {
  "runtime/platform/calendar.ts": {
    names: ["Date"],
    reason:
      "the calendar library takes and gives times as Date; no clock is read, as calendar.test.ts shows with a stopped one",
  },
  "client/pause.ts": {
    names: ["setTimeout", "clearTimeout"],
    reason: "a client waits before it connects again, in browsers too; nothing durable depends on how long",
  },
  "store/redis/timing.ts": {
    names: ["performance", "setTimeout", "clearTimeout", "setImmediate"],
    reason:
      "how long a cache is waited for is the patience of a process, not the time of runs; no answer depends on it",
  },
};
const ambientNames = [
  ...["Date", "performance", "Temporal", "crypto", "globalThis", "global"],
  ...["setTimeout", "setInterval", "setImmediate", "queueMicrotask", "clearTimeout", "clearInterval"],
];
const ambientMembers = [
  "Date.now",
  "Math.random",
  "process.env",
  "process.hrtime",
  "process.uptime",
  "process.nextTick",
];
const ambientImports: Readonly<Record<string, readonly string[] | "all">> = {
  "node:timers": "all",
  "node:timers/promises": "all",
  "node:perf_hooks": "all",
  "node:process": ["env", "hrtime", "uptime", "nextTick"],
  "node:crypto": ["randomUUID", "randomBytes", "randomInt", "randomFill", "randomFillSync", "webcrypto"],
};

/** Files that may import a module whose name is known only at run time, for this reason. */
const computedImportGranted: Readonly<Record<string, string>> = {
  "cli/load-machines.ts": "a worker runs the machines of a module that its caller names",
};

/** Text must never become code, anywhere in `src`, tests included. */
const evaluatingNames = ["eval", "Function"];
const evaluatingImports = ["node:vm", "vm"];

/** What stands for the name of a module that is known only at run time. */
const computedImport = "a module computed at run time";

interface Import {
  /** As written. */
  readonly from: string;
  readonly line: number;
  /** Imported names, where the form has any. */
  readonly names: readonly string[];
}

/** Every import of a file: static, re-exported, dynamic and in types. A dynamic one must name its module. */
function importsOf(path: string, text: string): Import[] {
  const syntax = parse(path, text);
  const found: Import[] = [];
  visit(syntax.program, (node) => {
    const source = node.source as SyntaxNode | null | undefined;
    const isImport = /^(Import(Declaration|Expression)|Export(All|Named)Declaration|TSImportType)$/.test(
      node.type,
    );
    if (!isImport || !source) return;
    const specifiers = (node.specifiers as SyntaxNode[] | undefined) ?? [];
    found.push({
      from: literalText(source) ?? computedImport,
      line: syntax.lineAt(node.start),
      names: specifiers.map((specifier) => nameOf(specifier.imported ?? specifier.local)),
    });
  });
  return found;
}

function nameOf(node: unknown): string {
  const { name, value } = node as { name?: string; value?: string };
  return name ?? value ?? "";
}

/** The part of `src` a path (from `src`) belongs to: its folder, or the file itself at the top. */
const partOf = (path: string): string => path.split("/")[0] ?? path;
const liesIn = (path: string, places: readonly string[]): boolean =>
  places.some((place) => path === place || path.startsWith(`${place}/`));
const isRelative = (from: string): boolean => from.startsWith(".");
const fromSrc = (path: string): string | undefined =>
  path.startsWith("src/") ? path.slice("src/".length) : undefined;

/** What the file at this path may import of `src`; undefined means anything. */
function importableBy(path: string): readonly string[] | undefined {
  const own = fromSrc(path);
  if (own === undefined) return outsideMayImport[partOf(path)];
  if (isTest(path)) return undefined;
  const part = partOf(own);
  return [...(part.endsWith(".ts") ? [] : [part, ...openToAll]), ...(mayImport[part] ?? [])];
}

/** What a file's imports break of the direction table; paths are from the project's top. */
function directionProblems(path: string, text: string): string[] {
  const own = fromSrc(path);
  const importable = importableBy(path);
  if (own !== undefined && mayImport[partOf(own)] === undefined)
    return [`${path}: ${partOf(own)} is not in the direction table`];
  if (importable === undefined) return [];
  return importsOf(path, text).flatMap(({ from, line }) => {
    const target = posix.join(posix.dirname(path), from);
    const targetInSrc = fromSrc(target);
    const refuse = (reason: string): string[] => [`${path}:${line}: ${reason}`];
    if (own !== undefined && /^holdfast(\/|$)/.test(from))
      return refuse("src imports itself by its package name");
    if (!isRelative(from)) return [];
    if (isTest(target)) return refuse(`${target} is a test; nobody imports tests`);
    if (targetInSrc === undefined) return own === undefined ? [] : refuse(`${target} is outside src`);
    return liesIn(targetInSrc, importable)
      ? []
      : refuse(`${partOf(own ?? path)} may not import ${targetInSrc}`);
  });
}

/** Packages and `node:` modules that a pure part of `src` imports without leave. */
function packageProblems(path: string, text: string): string[] {
  const own = fromSrc(path);
  const allowed = own === undefined || isTest(path) ? undefined : packagesOfPureParts[partOf(own)];
  if (own === undefined || allowed === undefined) return [];
  return importsOf(path, text)
    .filter(({ from }) => !isRelative(from))
    .filter(({ from }) => !allowed.some(({ name, under }) => name === from && own.startsWith(under)))
    .map(({ from, line }) => `${path}:${line}: ${partOf(own)} may not import ${from}`);
}

/** Where an identifier is only a label (`a.Date`, `{ Date: 1 }`) and refers to nothing. */
function isLabel(node: SyntaxNode, parent: SyntaxNode | undefined, field: string): boolean {
  if (parent === undefined || parent.computed === true) return false;
  if (parent.type === "Property") return field === "key" && parent.shorthand !== true;
  return field === "property" || field === "key" || (field === "imported" && parent.local !== node);
}

/** `Math.random`, also as `Math["random"]`; undefined for any other expression. */
function memberName(node: SyntaxNode): string | undefined {
  if (node.type !== "MemberExpression") return undefined;
  const object = node.object as SyntaxNode;
  const property = node.property as SyntaxNode;
  const name = node.computed === true ? literalText(property) : nameOf(property);
  return object.type === "Identifier" ? `${nameOf(object)}.${name}` : undefined;
}

/** `const { random } = Math` names its members in a pattern. */
function patternNames(node: SyntaxNode): string[] {
  const pattern = node.id as SyntaxNode | undefined;
  const from = node.init as SyntaxNode | null | undefined;
  if (node.type !== "VariableDeclarator" || pattern?.type !== "ObjectPattern" || from?.type !== "Identifier")
    return [];
  return (pattern.properties as SyntaxNode[]).map(
    (property) => `${nameOf(from)}.${nameOf(property.key ?? {})}`,
  );
}

/** Uses of clocks, randomness, timers and the environment where they have no place. */
function ambientProblems(path: string, text: string): string[] {
  const own = fromSrc(path);
  if (own === undefined || isTest(path) || liesIn(own, ambientAllowed)) return [];
  const syntax = parse(path, text);
  const problems: string[] = [];
  const granted = ambientGranted[own]?.names ?? [];
  const banned = ambientNames.filter((name) => !granted.includes(name));
  const report = (node: SyntaxNode, what: string) =>
    problems.push(`${path}:${syntax.lineAt(node.start)}: ${what}`);
  visit(syntax.program, (node, parent, field) => {
    const name = node.type === "Identifier" ? nameOf(node) : undefined;
    if (name !== undefined && banned.includes(name) && !isLabel(node, parent, field)) report(node, name);
    for (const member of [memberName(node), ...patternNames(node)])
      if (member !== undefined && ambientMembers.includes(member)) report(node, member);
  });
  for (const { from, line, names } of importsOf(path, text)) {
    const refused = ambientImports[from.startsWith("node:") ? from : `node:${from}`] ?? [];
    const used = refused === "all" ? [from] : names.filter((name) => refused.includes(name));
    problems.push(...used.map((name) => `${path}:${line}: ${name}`));
  }
  return problems;
}

/** Ways to turn text into code. */
function evaluationProblems(path: string, text: string): string[] {
  if (fromSrc(path) === undefined) return [];
  const syntax = parse(path, text);
  const problems = importsOf(path, text)
    .filter(({ from }) => evaluatingImports.includes(from))
    .map(({ from, line }) => `${path}:${line}: ${from}`);
  visit(syntax.program, (node, parent, field) => {
    if (node.type !== "Identifier" || !evaluatingNames.includes(nameOf(node))) return;
    if (isLabel(node, parent, field) || parent?.type === "TSTypeReference") return;
    problems.push(`${path}:${syntax.lineAt(node.start)}: ${nameOf(node)}`);
  });
  return problems;
}

/** The first import cycle among these files, as a path that returns to where it began. */
function cycleIn(files: Readonly<Record<string, string>>): string[] | undefined {
  const done = new Set<string>();
  const follow = (path: string, trail: readonly string[]): string[] | undefined => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path];
    const text = files[path];
    if (text === undefined || done.has(path)) return undefined;
    for (const { from } of importsOf(path, text).filter(({ from }) => isRelative(from))) {
      const cycle = follow(posix.join(posix.dirname(path), from), [...trail, path]);
      if (cycle !== undefined) return cycle;
    }
    done.add(path);
    return undefined;
  };
  for (const path of Object.keys(files)) {
    const cycle = follow(path, []);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
}

/** Packages that published code imports but whoever installs Holdfast would not get. */
function undeclaredPackages(path: string, text: string, declared: readonly string[]): string[] {
  const own = fromSrc(path);
  if (own === undefined || isTest(path)) return [];
  return importsOf(path, text)
    .filter(({ from }) => from !== computedImport || computedImportGranted[own] === undefined)
    .filter(({ from }) => !isRelative(from) && !from.startsWith("node:"))
    .map(({ from, line }) => ({ line, name: from.split("/", from.startsWith("@") ? 2 : 1).join("/") }))
    .filter(({ name }) => !declared.includes(name))
    .map(({ name, line }) => `${path}:${line}: ${name} is neither a dependency nor a peer`);
}

const sources = Object.fromEntries(projectFiles.filter(isTypeScript).map((path) => [path, read(path)]));
const across = (check: (path: string, text: string) => string[]): string[] =>
  Object.entries(sources).flatMap(([path, text]) => check(path, text));

describe("the project keeps its architecture", () => {
  test("imports follow the direction table, type imports included", () => {
    expect(across(directionProblems)).toEqual([]);
  });

  test("no imports go round in a circle", () => {
    expect(cycleIn(sources)).toBeUndefined();
  });

  test("pure parts import no platform module and only the packages they were granted", () => {
    expect(across(packageProblems)).toEqual([]);
  });

  test("clocks, randomness, timers and the environment appear only where they are allowed", () => {
    expect(across(ambientProblems)).toEqual([]);
  });

  test("nothing in src evaluates text as code", () => {
    expect(across(evaluationProblems)).toEqual([]);
  });

  test("whatever published code imports is a dependency or a peer", () => {
    const manifest = JSON.parse(read("package.json")) as Record<string, Record<string, string> | undefined>;
    const declared = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
    expect(across((path, text) => undeclaredPackages(path, text, declared))).toEqual([]);
  });
});

describe("each check fails on what it forbids", () => {
  test.each([
    ["src/core/a.ts", `import { open } from "../store/store.ts";`],
    ["src/core/a.ts", `import type { Store } from "../store/store.ts";`],
    ["src/core/a.ts", `type Store = import("../store/store.ts").Store;`],
    ["src/core/a.ts", `export * from "../check/reach.ts";`],
    ["src/core/a.ts", `const later = await import("../runtime/clock.ts");`],
    ["src/core/a.ts", `import { root } from "../../test/project.ts";`],
    ["src/core/a.ts", `import { sample } from "./b.test.ts";`],
    ["src/core/a.ts", `import { step } from "holdfast";`],
    ["src/core/a.ts", `import { step } from "../index.ts";`],
    ["src/ecmascript/a.ts", `import { open } from "../store/store.ts";`],
    ["src/security/a.ts", `import { start } from "../runtime/runtime.ts";`],
    ["src/interop/a.ts", `import { loop } from "../runtime/step-loop.ts";`],
    ["src/client/a.ts", `import { app } from "../server/app.ts";`],
    ["src/errors.ts", `import { limits } from "./limits.ts";`],
    ["src/novel/a.ts", `import { step } from "../core/step.ts";`],
    ["studio/a.ts", `import { step } from "../src/core/step.ts";`],
  ])("direction: %s with %s", (path, text) => {
    expect(directionProblems(path, text)).toHaveLength(1);
  });

  test.each([
    ["src/check/a.ts", `import { step } from "../core/step.ts";`],
    ["src/core/a.ts", `import { limits } from "../limits.ts"; import { b } from "./formats/b.ts";`],
    ["src/interop/a.ts", `import { createRuntime } from "../runtime/runtime.ts";`],
    ["src/core/a.test.ts", `import { harness } from "../testing/harness.ts";`],
    ["test/a.test.ts", `import { step } from "../src/core/step.ts";`],
  ])("direction allows: %s with %s", (path, text) => {
    expect(directionProblems(path, text)).toEqual([]);
  });

  test("a cycle is found through type imports and shown as a path", () => {
    const files = {
      "src/core/a.ts": `import "./b.ts";`,
      "src/core/b.ts": `import type { C } from "./deep/c.ts";`,
      "src/core/deep/c.ts": `export { a } from "../a.ts";`,
    };
    expect(cycleIn(files)).toEqual(["src/core/a.ts", "src/core/b.ts", "src/core/deep/c.ts", "src/core/a.ts"]);
    expect(cycleIn({ ...files, "src/core/deep/c.ts": "" })).toBeUndefined();
  });

  test("a pure part is refused platform modules and packages it was not granted", () => {
    expect(packageProblems("src/core/a.ts", `import { readFileSync } from "node:fs";`)).toHaveLength(1);
    expect(packageProblems("src/core/a.ts", `import { produce } from "immer";`)).toHaveLength(1);
    expect(packageProblems("src/core/step.ts", `import { SaxesParser } from "saxes";`)).toHaveLength(1);
    expect(packageProblems("src/core/formats/scxml/read.ts", `import { SaxesParser } from "saxes";`)).toEqual(
      [],
    );
    expect(packageProblems("src/store/sqlite/a.ts", `import { DatabaseSync } from "node:sqlite";`)).toEqual(
      [],
    );
  });

  test.each([
    "const now = Date.now();",
    "const now = new Date();",
    "const Clock = Date;",
    "function late(at: Date) {}",
    "const dice = Math.random();",
    `const dice = Math["random"]();`,
    "const { random } = Math;",
    "setTimeout(() => {}, 1);",
    "const start = performance.now();",
    "const id = crypto.randomUUID();",
    "const home = process.env.HOME;",
    "const time = globalThis.Date;",
    "const parts = { Date };",
    `import { randomUUID } from "node:crypto";`,
    `import { randomUUID as id } from "crypto";`,
    `import { setTimeout as sleep } from "node:timers/promises";`,
    `import { env } from "node:process";`,
  ])("ambient: %s", (text) => {
    expect(ambientProblems("src/core/a.ts", text)).not.toEqual([]);
    expect(ambientProblems("src/runtime/step-loop.ts", text)).not.toEqual([]);
    expect(ambientProblems("src/runtime/clock.ts", text)).toEqual([]);
    expect(ambientProblems("src/cli/main.ts", text)).toEqual([]);
  });

  test("ambient: a file that was granted a name may use it, and nothing else of the kind", () => {
    const check = (text: string) => ambientProblems("src/runtime/platform/calendar.ts", text);
    expect(check("const time = new Date(5).getTime();")).toEqual([]);
    expect(check("const now = Date.now();")).toHaveLength(1);
    expect(check("setTimeout(() => {}, 1);")).toHaveLength(1);
  });

  test.each([
    "const label = { Date: 1, performance: 2 }; label.Date;",
    "// Date and setTimeout in a comment",
    `const text = "Date.now()";`,
    "const half = Math.floor(0.5);",
    `import { createHash } from "node:crypto";`,
  ])("ambient allows: %s", (text) => {
    expect(ambientProblems("src/core/a.ts", text)).toEqual([]);
  });

  test.each([
    `eval("1");`,
    `const run = eval;`,
    `new Function("return 1");`,
    `Function("return 1")();`,
    `import vm from "node:vm";`,
    `const vm = await import("vm");`,
  ])("evaluation: %s", (text) => {
    expect(evaluationProblems("src/cli/a.ts", text)).toHaveLength(1);
    expect(evaluationProblems("src/core/a.test.ts", text)).toHaveLength(1);
  });

  test("a package outside the manifest's dependencies is named", () => {
    const text = `import { parse } from "@scope/name/deep"; import fs from "node:fs"; import ok from "ok/sub";`;
    expect(undeclaredPackages("src/core/a.ts", text, ["ok"])).toEqual([
      "src/core/a.ts:1: @scope/name is neither a dependency nor a peer",
    ]);
  });
});
