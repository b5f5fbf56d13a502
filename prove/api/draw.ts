/** Drawing requests: values that fit their schemas, values that nearly do, and values that never should. */
import type { Random } from "../../test/generate/random.ts";
import type { Api, Operation, Schema } from "./document.ts";

/** What is there to be asked about: names that mean something, of this tenant and of the other. */
export interface Names {
  readonly runs: readonly string[];
  readonly foreignRuns: readonly string[];
  readonly machines: readonly string[];
  readonly decisions: readonly string[];
  readonly keys: readonly string[];
}

export interface Drawn {
  readonly operation: Operation;
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

const deep = (levels: number): string => `${"[".repeat(levels)}${"]".repeat(levels)}`;

/** Texts that have broken others. */
const hostileTexts = [
  ...[
    "",
    " ",
    "\0",
    "\ud800",
    "\udfff\ud800",
    "𝕳𝖊𝖑𝖑𝖔 👩‍👩‍👧",
    "‮abc",
    "../../etc/passwd",
    "__proto__",
    "constructor",
  ],
  ...[
    "' OR 1=1 --",
    "<script>alert(1)</script>",
    "%00",
    "%2e%2e%2f",
    "a/b",
    "a?b#c",
    "NaN",
    "-1",
    "1e999",
    "null",
    "true",
  ],
  ...["{}", "hf_x_y", "x".repeat(600), "x".repeat(20_000), "𐏿".repeat(300), "\r\nx-evil: 1"],
];

export class Drawing {
  readonly #random: Random;
  readonly #api: Api;
  readonly #names: Names;

  constructor(random: Random, api: Api, names: Names) {
    this.#random = random;
    this.#api = api;
    this.#names = names;
  }

  draw(): Drawn {
    const operation = this.#random.pick(this.#api.operations);
    /** How often something in it is wrong: whole requests must be good too, or nothing behind the door is tried. */
    const wrong = this.#random.pick([0, 0, 0.05, 0.3]);
    const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
      const schema = operation.parameters.find((one) => one.name === name)?.schema ?? {};
      return encode(textOf(this.#valueOf(schema, name, wrong, 0)));
    });
    const query = operation.parameters
      .filter(
        (one) =>
          one.in === "query" && (one.required ? !this.#random.chance(wrong) : this.#random.chance(0.3)),
      )
      .map(({ name, schema }) => this.#queryOf(name, schema, wrong));
    if (this.#random.chance(wrong / 3))
      query.push(`${encode(this.#random.pick(hostileTexts))}=${encode(this.#random.pick(hostileTexts))}`);
    const method = this.#random.chance(wrong / 10)
      ? this.#random.pick(["GET", "POST", "PUT", "DELETE", "PATCH"])
      : operation.method;
    const hasBody = method === "POST" || method === "PUT" || method === "PATCH";
    return {
      ...{ operation, method },
      url: `http://127.0.0.1:4400${path}${query.length === 0 ? "" : `?${query.join("&")}`}`,
      headers: this.#headersOf(hasBody, wrong),
      body: hasBody ? this.#bodyOf(operation, wrong) : undefined,
    };
  }

  #queryOf(name: string, schema: Schema, wrong: number): string {
    if (name !== "attributes") return `${name}=${encode(textOf(this.#valueOf(schema, name, wrong, 0)))}`;
    const attribute = this.#random.chance(wrong) ? this.#random.pick(hostileTexts) : "secret";
    return `attribute.${encode(attribute)}=${encode(this.#random.pick(["a", "true", "5", '"5"', '"', "\0"]))}`;
  }

  #headersOf(hasBody: boolean, wrong: number): Record<string, string> {
    const headers: Record<string, string> = {};
    if (hasBody)
      headers["content-type"] = this.#random.chance(wrong / 3)
        ? this.#random.pick(["text/plain", "application/xml", "multipart/form-data"])
        : "application/json";
    if (this.#random.chance(0.1))
      headers["idempotency-key"] = this.#random.pick(["once", "x".repeat(600), " ", "a-key", "é"]);
    if (this.#random.chance(0.1))
      headers["last-event-id"] = this.#random.pick(["1", "-1", "zzz.5", "99999999999999999999", "0"]);
    return headers;
  }

  #bodyOf(operation: Operation, wrong: number): string {
    if (this.#random.chance(wrong / 4))
      return this.#random.pick([
        "",
        "{",
        "null",
        "[]",
        '"text"',
        deep(240),
        deep(260),
        deep(5_000),
        "{}{}",
        '{"a":1,"a":2}',
        "\ufeff{}",
      ]);
    if (operation.body === undefined) return this.#random.chance(0.5) ? "" : "{}";
    const value = this.#valueOf(operation.body, "body", wrong, 0);
    const text = JSON.stringify(value) ?? "null";
    if (!this.#random.chance(wrong)) return text;
    return text
      .replace(
        /^\{/,
        `{"__proto__":{"isAdmin":true},${this.#random.chance(0.5) ? '"constructor":{"prototype":{}},' : ""}`,
      )
      .replace(/,\}$/, "}");
  }

  /** A value of a schema; wrong so often. */
  #valueOf(given: Schema, name: string, wrong: number, depth: number): unknown {
    if (this.#random.chance(wrong)) return this.#hostile();
    const schema = this.#api.resolve(given);
    const known = this.#knownBy(name, depth);
    if (known !== undefined && schema.type === "string") return known;
    const options = (schema.oneOf ?? schema.anyOf) as readonly Schema[] | undefined;
    if (options !== undefined) return this.#valueOf(this.#random.pick(options), name, wrong, depth);
    if (Array.isArray(schema.enum)) return this.#random.pick(schema.enum as unknown[]);
    const type = Array.isArray(schema.type) ? this.#random.pick(schema.type as string[]) : schema.type;
    switch (type) {
      case "string":
        return this.#random.pick(["a", "open", "$.n", "counter", "add", "text"]);
      case "integer":
      case "number":
        return this.#numberOf(schema, name);
      case "boolean":
        return this.#random.chance(0.5);
      case "null":
        return null;
      case "array":
        return Array.from({ length: this.#random.below(4) }, () =>
          this.#valueOf((schema.items ?? {}) as Schema, name, wrong, depth + 1),
        );
      case "object":
        return this.#objectOf(schema, wrong, depth);
      default:
        return this.#random.pick<unknown>([null, 1, "text", { from: 2 }, [1, 2], true]);
    }
  }

  #numberOf({ minimum = 0, maximum }: Schema, name: string): number {
    // Nobody waits for the answer of a machine that gives none.
    if (name === "timeoutMs") return 1 + this.#random.below(10);
    const least = Number(minimum);
    return this.#random.pick([
      least,
      least + 1,
      least + this.#random.below(20),
      Number(maximum ?? least + 5),
    ]);
  }

  #objectOf({ properties = {}, required = [] }: Schema, wrong: number, depth: number): object {
    const made: Record<string, unknown> = {};
    for (const [key, schema] of Object.entries(properties as Readonly<Record<string, Schema>>)) {
      const isRequired = (required as readonly string[]).includes(key);
      // Nobody waits long for what a parked run does not do.
      if (key === "timeoutMs") made[key] = 1 + this.#random.below(10);
      else if (isRequired ? !this.#random.chance(wrong / 2) : this.#random.chance(depth > 3 ? 0.1 : 0.4))
        made[key] = this.#valueOf(schema, key, wrong, depth + 1);
    }
    if (this.#random.chance(wrong / 2))
      made[this.#random.pick(["extra", "tenant", "toString"])] = this.#hostile();
    return made;
  }

  /**
   * A name that means something, now and then the other tenant's: where a run is asked for by it. In a body it could become
   * the name of something of this tenant's, and then it may be told.
   */
  #knownBy(name: string, depth: number): string | undefined {
    const { runs, foreignRuns, machines, decisions, keys } = this.#names;
    if (this.#random.chance(0.1)) return undefined;
    if (["run", "one", "other", "to", "runs"].includes(name))
      return this.#random.pick(depth === 0 && this.#random.chance(0.15) ? foreignRuns : runs);
    if (name === "fork" || name === "id")
      return this.#random.pick(["a-new-one", "another", ...runs.slice(0, 2)]);
    if (name === "machine") return this.#random.pick(machines);
    if (name === "decision") return this.#random.pick(decisions);
    if (name === "key") return this.#random.pick([...keys, "1.0", "2.0"]);
    if (name === "type")
      return this.#random.pick(["add", "nap", "read", "approve", "say", "decide", "unknown", "end"]);
    return undefined;
  }

  #hostile(): unknown {
    return this.#random.pick<unknown>([
      ...[this.#random.pick(hostileTexts), this.#random.pick(hostileTexts)],
      ...[0, -1, 1.5, 1e308, -0, Number.MAX_SAFE_INTEGER + 2, null, true, [], {}, [[]]],
      ...[{ toString: 1, valueOf: 2 }, { length: 1e9 }, JSON.parse(deep(100)) as unknown],
      JSON.parse('{"__proto__":{"polluted":true}}') as unknown,
    ]);
  }
}

/** As text; objects as JSON. */
const textOf = (value: unknown): string =>
  typeof value === "object" ? JSON.stringify(value) : String(value);

/** As in a URL; what cannot be encoded goes as it is. */
function encode(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    return "%ED%A0%80";
  }
}
