/**
 * The world outside the agent: a model, a search engine, a library and a publisher, all scripted, kept by a process that
 * nobody kills. Every call that arrives is written to a ledger before it is answered.
 *
 * All services but one know an idempotency key: what was done under it is not done again, the answer is given again. The
 * publisher knows none: whoever asks it twice has published twice. It can be asked what it has.
 */
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import type { Json } from "holdfast";

/** A call as it arrives: which service, under which key, and with what. */
export interface Call {
  readonly tool: string;
  readonly key: string;
  readonly input: Json;
}

/** What a call used up, where a model was asked. */
export interface Usage {
  readonly tokens: number;
  readonly cost: number;
}

/** What the model writes at a time. */
export interface Paragraph {
  readonly text: string;
  readonly more: boolean;
}

export type Answer = { readonly output: Json; readonly usage?: Usage } | { readonly error: string };

/** A call, as the ledger has it. `effect`: the world is another one since. `lost`: whoever called was killed before the answer. */
export interface LedgerLine {
  readonly at: number;
  readonly tool: string;
  readonly key: string;
  readonly effect: boolean;
  readonly error?: string;
  readonly lost?: true;
}

/** That a process was killed, as the ledger has it. */
export interface KillLine {
  readonly at: number;
  readonly killed: number;
}

const findings: Readonly<Record<string, string>> = {
  "how kelp is anchored": "The holdfast is a knot of root-like fingers that take up no food; they only grip.",
  "what storms do to kelp": "Storms tear off whole plants, mostly where the rock itself gives way.",
  "whether a holdfast regrows": "A torn plant does not settle again; new kelp grows beside the old grip.",
};

const paragraphs: readonly string[] = [
  "Kelp holds on by a holdfast: a knot of fingers that feeds nothing and only grips the rock.",
  "A storm seldom loosens it. What breaks is the stem, or the rock.",
  "So the sea may do what it likes. What has hold, keeps hold; what is torn off starts anew beside it.",
];

const usage = (tokens: number): Usage => ({ tokens, cost: tokens / 50_000 });
const text = (input: Json, field: string): string => String((input as Record<string, Json>)[field]);

type Service = (input: Json, calls: number) => Answer;

const services: Readonly<Record<string, Service>> = {
  plan: () => ({ output: Object.keys(findings), usage: usage(420) }),
  // The first query of all comes at a bad time.
  search: (input, calls) =>
    calls === 1 && text(input, "query") === "how kelp is anchored"
      ? { error: "The search engine is busy" }
      : { output: findings[text(input, "query")] ?? "Nothing was found." },
  read: () => ({ output: "Norton (1991), on the holdfasts of kelp", usage: usage(1_300) }),
  write: (input) => {
    const { paragraph } = input as { readonly paragraph: number };
    const output = { text: paragraphs[paragraph] ?? "", more: paragraph + 1 < paragraphs.length };
    return { output, usage: usage(310) };
  },
  reserve: () => ({ output: { name: "report-17" } }),
  release: () => ({ output: null }),
};

/** What the publisher has, by name. */
interface Shelf {
  readonly [name: string]: { readonly address: string };
}

export class World {
  readonly #ledger: string;
  /** What was answered under each key of each service that knows keys. */
  readonly #answers = new Map<string, Answer>();
  readonly #calls = new Map<string, number>();
  /** Calls that took effect and whose answer reached nobody. */
  readonly #lost = new Set<string>();
  /** How often each service took effect. */
  readonly effects = new Map<string, number>();
  #shelf: Shelf = {};

  constructor(ledger: string) {
    this.#ledger = ledger;
    writeFileSync(ledger, "");
  }

  /** Does what a call asks for, and writes it down. `lost` says that its answer will reach nobody. */
  take(call: Call, lost: boolean): Answer {
    const id = `${call.tool} ${call.key}`;
    const calls = (this.#calls.get(id) ?? 0) + 1;
    this.#calls.set(id, calls);
    const known = this.#answers.get(id);
    const answer = known ?? this.#serve(call, calls);
    const failed = "error" in answer;
    if (known === undefined && !failed && call.tool in services) this.#answers.set(id, answer);
    const effect = known === undefined && !failed && call.tool !== "findPublication";
    if (effect && lost) this.#lost.add(id);
    if (effect) this.effects.set(call.tool, (this.effects.get(call.tool) ?? 0) + 1);
    this.#write(call, effect, { ...(failed && { error: answer.error }), ...(lost && { lost }) });
    return answer;
  }

  /** Whether this took effect before, and whoever called never heard of it. */
  hasLost({ tool, key }: Call): boolean {
    return this.#lost.has(`${tool} ${key}`);
  }

  /** Whoever called is gone. */
  bury(process: number): void {
    this.#append({ at: Date.now(), killed: process });
  }

  /** A call that never arrived, since whoever made it was killed first: nothing happens. */
  miss(call: Call): void {
    this.#write(call, false, { error: "it never arrived", lost: true });
  }

  #serve({ tool, input }: Call, calls: number): Answer {
    if (tool === "publish") {
      const name = text(input, "name");
      const address = `https://example.org/${name}`;
      this.#shelf = { ...this.#shelf, [name]: { address } };
      return { output: { address } };
    }
    if (tool === "findPublication") return { output: this.#shelf[text(input, "name")] ?? null };
    return services[tool]?.(input, calls) ?? { error: `There is no service ${tool}` };
  }

  #write({ tool, key }: Call, effect: boolean, rest: Pick<LedgerLine, "error" | "lost">): void {
    this.#append({ at: Date.now(), tool, key, effect, ...rest });
  }

  #append(line: LedgerLine | KillLine): void {
    appendFileSync(this.#ledger, `${JSON.stringify(line)}\n`);
  }
}

/** All calls and all kills of a ledger, in the order they were written. */
export function readLedger(path: string): { calls: LedgerLine[]; kills: KillLine[] } {
  const lines = readFileSync(path, "utf8").split("\n").filter(Boolean);
  const parsed = lines.map((line) => JSON.parse(line) as LedgerLine | KillLine);
  return {
    calls: parsed.filter((line) => "tool" in line),
    kills: parsed.filter((line) => "killed" in line),
  };
}
