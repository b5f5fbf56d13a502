/** What options mean: whatever cannot be meant is refused before anything begins. */
import { readFileSync } from "node:fs";
import { type Command, Option } from "commander";
import { durationMs } from "../core/duration.ts";
import type { Json } from "../core/json.ts";
import { HoldfastError } from "../errors.ts";
import type { World } from "./world.ts";

export interface StoreArguments {
  readonly store: string;
  readonly schema: string | undefined;
  /** Where workers hear from each other; false for nowhere, undefined for where the store is. */
  readonly signals: string | false | undefined;
  /** The Redis that is the store's warm tier; undefined for none. */
  readonly redis: string | undefined;
}

/** Where to listen. */
export interface Address {
  readonly host: string;
  /** 0 for any that is free. */
  readonly port: number;
}

/** The options of a command as commander gives them, by their names. */
export type Given = Readonly<Record<string, unknown>>;

const aboutStore = "postgres://… or the path of a SQLite file; the variable HOLDFAST_STORE unless given";

/** Adds what says where the store is. */
export function addStoreOptions(command: Command, about = aboutStore): Command {
  return command
    .option("--store <url>", about)
    .option("--schema <name>", "the schema of a PostgreSQL store; holdfast unless given")
    .option(
      "--signals <url>",
      "where workers hear from each other, if --store leads through a pooler; off: nowhere",
    )
    .option("--redis <url>", "a Redis as the store's warm tier; the variable HOLDFAST_REDIS unless given");
}

/** Which store is meant; throws COMMAND_INVALID if none was given, and none is meant without. */
export function storeOf(given: Given, { env }: Pick<World, "env">, otherwise = ""): StoreArguments {
  const store = textOf(given, "store") ?? (env.HOLDFAST_STORE || otherwise);
  if (store === "")
    throw misused(
      "No store was given: add --store postgres://… or a path, or set the variable HOLDFAST_STORE",
    );
  const signals = textOf(given, "signals");
  const redis = textOf(given, "redis") ?? (env.HOLDFAST_REDIS || undefined);
  if (redis !== undefined && !/^rediss?:\/\//.test(redis))
    throw misused(
      "--redis, or the variable HOLDFAST_REDIS, is no address of a Redis; write redis://host:6379",
    );
  return { store, schema: textOf(given, "schema"), signals: signals === "off" ? false : signals, redis };
}

export const textOf = (given: Given, name: string): string | undefined => given[name] as string | undefined;

/** An option that is a whole number above zero, or from `least` on. */
export function countOption(flags: string, about: string, least = 1): Option {
  return new Option(flags, about).argParser((text) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && Number.isSafeInteger(number) && number >= least) return number;
    const wanted = least === 1 ? "above zero" : `of at least ${least}`;
    throw misused(`${longOf(flags)} is ${text}; write a whole number ${wanted}`);
  });
}

/** An option that is a span of time, in milliseconds once it is read. */
export function timeOption(flags: string, about: string, otherwise?: string): Option {
  const read = (text: string) => {
    try {
      return durationMs(text);
    } catch (error) {
      throw misused(`${longOf(flags)}: ${(error as Error).message}`);
    }
  };
  const option = new Option(flags, about).argParser(read);
  return otherwise === undefined ? option : option.default(read(otherwise), otherwise);
}

/** An option that is `host:port`, where an IPv6 address stands in brackets, or `off`. */
export function addressOption(flags: string, about: string, otherwise: string): Option {
  const read = (text: string): Address | false => {
    if (text === "off") return false;
    const [, bracketed, plain, port] = /^(?:\[([\da-f:.]+)\]|([^:[\]]+)):(\d{1,5})$/i.exec(text) ?? [];
    const host = bracketed ?? plain;
    if (host === undefined || Number(port) > 65_535)
      throw misused(`${longOf(flags)} is ${text}; write a host and a port, as ${otherwise}, or off`);
    return { host, port: Number(port) };
  };
  return new Option(flags, about).argParser(read).default(read(otherwise), otherwise);
}

/** JSON that stands among the arguments; what cannot be read as such is taken for a text where it is plainly one. */
export function jsonOf(what: string, text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    if (/^[\w .,:;@/-]+$/.test(text)) return text;
    throw misused(`${what} is no JSON: ${(error as Error).message}; put it in quotes, as '{"amount":40}'`);
  }
}

/** The text of a file that an argument names. */
export function textIn(what: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") throw misused(`${what}: there is no file ${path}; check the path`);
    if (code === "EISDIR" || code === "ENOTDIR")
      throw misused(`${what}: ${path} is no file; name one, not a folder`);
    throw misused(`${what}: ${path} cannot be read: ${(error as Error).message}`);
  }
}

/** JSON that is in a file. */
export function jsonIn(what: string, path: string): Json {
  const text = textIn(what, path);
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    throw misused(`${what}: ${path} has no JSON in it: ${(error as Error).message}`);
  }
}

/** An option of `name=value`, where a value is JSON, that may stand as often as needed; `pairsOf` reads them. */
export function pairOption(flags: string, about: string): Option {
  const gather = (pair: string, before: readonly (readonly [string, Json])[]) => {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(pair) ?? [];
    if (name === undefined || value === undefined)
      throw misused(`${longOf(flags)} is ${pair}; write name=value`);
    return [...before, [name, jsonOf(`The value of ${name}`, value)] as const];
  };
  return new Option(flags, `${about}; as often as needed`).argParser(gather).default([]);
}

/** What such an option was given, in order. */
export const pairsOf = (given: Given, name: string) => given[name] as readonly (readonly [string, Json])[];

const longOf = (flags: string): string => /--[\w-]+/.exec(flags)?.[0] ?? flags;

/** The error of a command that was called wrongly. */
export function misused(problem: string): HoldfastError {
  return new HoldfastError("COMMAND_INVALID", problem);
}
