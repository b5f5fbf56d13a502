/**
 * YAML text to values and back: YAML 1.2's core schema without what makes it dangerous. No aliases, no tags, no merge
 * keys, no field twice, no keys that are not text or numbers; and no text so long that reading it would take long.
 */
import { Document, isAlias, isMap, isNode, isScalar, parseDocument, type Scalar, visit } from "yaml";
import { limits } from "../../../limits.ts";
import { type Json, toJson } from "../../json.ts";
import type { Read } from "../json/text.ts";

const options = {
  version: "1.2",
  schema: "core",
  merge: false,
  customTags: null,
  resolveKnownTags: false,
  // Checked below: the library compares every pair of keys, and shows the text around every error.
  uniqueKeys: false,
  prettyErrors: false,
  strict: true,
  logLevel: "error",
} as const;

/** YAML text as a value; what is not plain data is refused, with the line it is on. */
export function readYaml(text: string): Read {
  if (text.length > limits.yamlLengthMax)
    return { problem: `is longer than ${limits.yamlLengthMax} characters of YAML; write JSON instead` };
  try {
    return readDocument(text);
  } catch (error) {
    // The reader calls itself for every level; there is nothing to mend after it had to stop.
    if (error instanceof RangeError)
      return { problem: `is nested deeper than ${limits.jsonDepthMax} levels` };
    return { problem: `is no YAML: ${(error as Error).message}` };
  }
}

function readDocument(text: string): Read {
  const document = parseDocument(text, options);
  const [complaint] = [...document.errors, ...document.warnings];
  if (complaint !== undefined)
    return {
      problem: `is no YAML that is accepted: ${complaint.message.trim()}, ${lineOf(text, complaint.pos[0])}`,
    };
  let problem: string | undefined;
  visit(document, {
    Node(key, node, ancestors) {
      const found = problemOf(node, key === "key");
      if (found !== undefined) problem = `${found}, ${lineOf(text, isNode(node) ? node.range?.[0] : 0)}`;
      else if (ancestors.length > limits.jsonDepthMax * 3)
        problem = `is nested deeper than ${limits.jsonDepthMax} levels`;
      return problem === undefined ? undefined : visit.BREAK;
    },
  });
  if (problem !== undefined) return { problem };
  return { value: toJson(document.toJS({ maxAliasCount: 0 }), [], "definition") };
}

function problemOf(node: unknown, isKey: boolean): string | undefined {
  if (isAlias(node)) return "has an alias (*name), which is not accepted: write it out";
  if (isNode(node) && "tag" in node && typeof node.tag === "string" && !plainTags.has(node.tag))
    return `has a tag (${node.tag.slice(0, 40)}), which is not accepted`;
  if (isKey && isMergeKey(node) && node.type === "PLAIN")
    return "has a merge key (<<), which is not accepted: write it out";
  if (isKey && (isMap(node) || !isScalar(node) || typeof node.value === "object"))
    return "has a key that is not text";
  const twice = isMap(node) ? repeatedKey(node.items) : undefined;
  return twice === undefined ? undefined : `names a field twice in one object: ${twice.slice(0, 80)}`;
}

/** In quotes it is a key like any other. */
const isMergeKey = (node: unknown): node is Scalar => isScalar(node) && node.value === "<<";

function repeatedKey(pairs: readonly { readonly key: unknown }[]): string | undefined {
  const known = new Set<string>();
  for (const { key } of pairs) {
    const name = String(isScalar(key) ? key.value : key);
    if (known.has(name)) return name;
    known.add(name);
  }
  return undefined;
}

const plainTags = new Set(
  ["map", "seq", "str", "int", "float", "bool", "null"].map((name) => `tag:yaml.org,2002:${name}`),
);

function lineOf(text: string, offset: number | undefined): string {
  return `on line ${text.slice(0, offset ?? 0).split("\n").length}`;
}

/** A value as YAML text. */
export function writeYamlText(value: Json): string {
  const document = new Document(value, { version: "1.2", schema: "core", aliasDuplicateObjects: false });
  visit(document, {
    Scalar(key, node) {
      if (key === "key" && isMergeKey(node)) node.type = "QUOTE_DOUBLE";
    },
  });
  return document.toString({ lineWidth: 100 });
}
