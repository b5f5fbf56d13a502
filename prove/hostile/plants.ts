/** Weaknesses put in on purpose, one at a time: the proof must find each, or it proves nothing. */
import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { Budget } from "../../src/core/expression/budget.ts";
import { Visit } from "../../src/core/json-schema/visit.ts";
import { Patterns } from "../../src/core/pattern.ts";
import type { Attack } from "./attack.ts";

/** What a plant does before each attack is met. */
export type Plant = (attack: Attack) => void;

/** Merges as many programs do: whatever key it finds. */
function merge(target: Record<string, unknown>, source: Record<string, unknown>): void {
  for (const key of Object.keys(source)) {
    const [inner, given] = [target[key], source[key]];
    if (typeof inner === "object" && inner !== null && typeof given === "object" && given !== null)
      merge(inner as Record<string, unknown>, given as Record<string, unknown>);
    else target[key] = given;
  }
}

const nothing: Plant = () => {};

/** Plants by name; each is planted when it is asked for. */
export const plants: Readonly<Record<string, () => Plant>> = {
  /** Expressions may cost what they like. */
  "no-budget": () => {
    Budget.prototype.spend = () => {};
    return nothing;
  },
  /** Checks of values may cost what they like. */
  "no-check-budget": () => {
    Visit.prototype.spend = () => {};
    return nothing;
  },
  /** Patterns are the platform's. */
  "plain-regexp": () => {
    Patterns.prototype.compile = (source) => {
      const pattern = new RegExp(source);
      return { test: (text) => pattern.test(text), costPerCharacter: 0 };
    };
    return nothing;
  },
  /** YAML is read with all it has. */
  "plain-yaml": () => (attack) => {
    if (attack.kind === "text") parse(attack.text, { maxAliasCount: -1 });
  },
  /** Payloads are merged into an object. */
  "naive-merge": () => (attack) => {
    if (attack.kind === "schema" && attack.value.startsWith("{"))
      merge({}, JSON.parse(attack.value) as Record<string, unknown>);
  },
  /** References to files are followed. */
  "reads-files": () => (attack) => {
    if (attack.kind === "scxml" && attack.text.includes("file:///")) readFileSync("/etc/hostname");
  },
  /** References to addresses are followed. */
  fetches: () => (attack) => {
    if (attack.kind === "schema" && attack.schema.includes("https://"))
      void fetch("http://127.0.0.1:9/").catch(() => {});
  },
  /** The process ends when it does not know what to do. */
  crashes: () => (attack) => {
    if (attack.kind === "expression" && attack.text.includes("__proto__")) process.reallyExit?.(3);
  },
};

declare global {
  namespace NodeJS {
    interface Process {
      reallyExit?(code: number): never;
    }
  }
}
