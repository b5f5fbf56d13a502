/** The corpus: the fixtures of `@scion-scxml/test-framework`, and which lane of the proof each belongs to. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export type Lane = "pair" | "http" | "manual" | "helper";

export interface Expectation {
  readonly initialConfiguration: readonly string[];
  readonly events: readonly {
    /** Milliseconds to wait before the event. */
    readonly after?: number;
    readonly event: { readonly name: string };
    readonly nextConfiguration: readonly string[];
  }[];
}

export interface Fixture {
  /** Its path in the corpus, without `.scxml`. */
  readonly name: string;
  readonly text: string;
  /** What a document finds behind a `src`. */
  readonly load: (src: string) => string | undefined;
  readonly expectation: Expectation | undefined;
}

/** Need an HTTP server, and have no expectation file: they pass by reaching `pass`. */
const httpCases = ["509", "510", "518", "519", "520", "522", "531", "532", "534", "567", "577"];
/** A person is meant to look at them; `manual.ts` looks instead. */
const manualCases = ["178", "301", "415"];

/** Every document of the corpus, in order of name. */
export function readCorpus(): Fixture[] {
  const manifest = fileURLToPath(import.meta.resolve("@scion-scxml/test-framework/package.json"));
  const root = join(dirname(manifest), "test");
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".scxml"))
    .sort()
    .map((path) => readFixture(root, path.replace(/\.scxml$/, "")));
}

function readFixture(root: string, name: string): Fixture {
  const folder = dirname(join(root, name));
  const expected = textOf(join(root, `${name}.json`));
  return {
    name: name.replaceAll("\\", "/"),
    text: readFileSync(join(root, `${name}.scxml`), "utf8"),
    load: (src) => textOf(join(folder, src.replace(/^file:/, ""))),
    expectation: expected === undefined ? undefined : JSON.parse(expected),
  };
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

/** The lanes that claim a fixture. Exactly one should. */
export function lanesOf({ name, expectation }: Pick<Fixture, "name" | "expectation">): Lane[] {
  const number = /^w3c-ecma\/test(\d+)\.txml$/.exec(name)?.[1];
  const lanes: Lane[] = [];
  if (expectation !== undefined) lanes.push("pair");
  if (number !== undefined && httpCases.includes(number)) lanes.push("http");
  if (number !== undefined && manualCases.includes(number)) lanes.push("manual");
  // Documents that others invoke; they run as their children.
  if (/sub\d+$/.test(name)) lanes.push("helper");
  return lanes;
}
