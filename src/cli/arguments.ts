/** What a command was called with, read into what it means; whatever cannot be meant is refused before anything begins. */
import { parseArgs } from "node:util";
import { durationMs } from "../core/duration.ts";
import { HoldfastError } from "../errors.ts";
import type { Address } from "./probes.ts";
import { type CommandName, commands, type Option, type OptionName, options, usage } from "./usage.ts";

export interface StoreArguments {
  readonly store: string;
  readonly schema: string | undefined;
  /** Where workers hear from each other; false for nowhere, undefined for where the store is. */
  readonly signals: string | false | undefined;
}

interface Running extends StoreArguments {
  readonly module: string;
  readonly slots: number | undefined;
  readonly drainMs: number;
}

export interface WorkerArguments extends Running {
  readonly command: "worker";
  readonly listen: Address | undefined;
}

export interface FleetArguments extends Running {
  readonly command: "fleet";
  readonly min: number;
  readonly max: number;
  readonly everyMs: number;
  readonly coolDownMs: number;
}

export interface DoctorArguments extends StoreArguments {
  readonly command: "doctor";
  readonly workers: number | undefined;
  readonly isJson: boolean;
}

export interface HelpArguments {
  readonly command: "help";
  readonly text: string;
}

export type Arguments = WorkerArguments | FleetArguments | DoctorArguments | HelpArguments;

type Given = Partial<Record<OptionName, string | boolean>>;

/** Throws COMMAND_INVALID with what is wrong and how it is called rightly. */
export function readArguments(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Arguments {
  const [name, ...rest] = argv;
  if (name === undefined || name === "help" || name === "--help") return { command: "help", text: usage() };
  if (!Object.hasOwn(commands, name))
    throw misused(`There is no command ${name}; there are ${Object.keys(commands).join(", ")}`);
  const command = name as CommandName;
  const { given, positionals } = parse(command, rest);
  if (given.help === true) return { command: "help", text: usage(command) };
  const { takesModule } = commands[command];
  if (positionals.length !== (takesModule ? 1 : 0))
    throw misused(
      takesModule
        ? `${command} takes one module, as in: holdfast ${command} ./machines.js`
        : `${command} takes no ${positionals[0]}; see holdfast ${command} --help`,
    );
  const read = new Reader(given);
  const store = storeOf(given, env);
  if (command === "doctor")
    return { command, ...store, workers: read.count("workers"), isJson: given.json === true };
  const slots = read.count("slots");
  const running = { ...store, module: positionals[0] as string, slots, drainMs: read.time("drain", "30s") };
  if (command === "worker")
    return { command, ...running, listen: addressOf(read.text("listen") ?? "127.0.0.1:9464") };
  const [min, max] = [read.count("min") ?? 1, read.count("max") ?? 4];
  if (min > max) throw misused(`--min ${min} is more than --max ${max}`);
  const times = { everyMs: read.time("every", "2s"), coolDownMs: read.time("cool-down", "30s") };
  return { command, ...running, min, max, ...times };
}

/** The arguments that make a worker of what a fleet was called with. The store goes by the environment, unseen by others. */
export function workerArguments({ module, slots, drainMs, schema, signals }: FleetArguments): string[] {
  return [
    ...["worker", module, "--listen", "off", "--drain", `${drainMs}ms`],
    ...(slots === undefined ? [] : ["--slots", String(slots)]),
    ...(schema === undefined ? [] : ["--schema", schema]),
    ...(signals === undefined ? [] : ["--signals", signals === false ? "off" : signals]),
  ];
}

function parse(command: CommandName, argv: readonly string[]) {
  const taken = commands[command].options.map((name) => {
    const { value }: Option = options[name];
    return [name, { type: value === undefined ? "boolean" : "string" }] as const;
  });
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      options: Object.fromEntries(taken),
      allowPositionals: true,
    });
    return { given: values as Given, positionals };
  } catch (error) {
    throw misused(`${(error as Error).message}; see holdfast ${command} --help`);
  }
}

function storeOf(given: Given, env: Readonly<Record<string, string | undefined>>): StoreArguments {
  const store = (given.store as string | undefined) ?? env.HOLDFAST_STORE ?? "";
  if (store === "")
    throw misused(
      "No store was given: add --store postgres://… or a path, or set the variable HOLDFAST_STORE",
    );
  const signals = given.signals as string | undefined;
  const schema = given.schema as string | undefined;
  return { store, schema, signals: signals === "off" ? false : signals };
}

class Reader {
  readonly #given: Given;

  constructor(given: Given) {
    this.#given = given;
  }

  text(name: OptionName): string | undefined {
    return this.#given[name] as string | undefined;
  }

  /** A whole number above zero. */
  count(name: OptionName): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const number = Number(text);
    if (/^\d+$/.test(text) && Number.isSafeInteger(number) && number > 0) return number;
    throw misused(`--${name} is ${text}; write a whole number above zero`);
  }

  time(name: OptionName, otherwise: string): number {
    try {
      return durationMs(this.text(name) ?? otherwise);
    } catch (error) {
      throw misused(`--${name}: ${(error as Error).message}`);
    }
  }
}

/** Of `host:port`, where an IPv6 address stands in brackets; undefined for `off`. */
function addressOf(text: string): Address | undefined {
  if (text === "off") return undefined;
  const [, bracketed, plain, port] = /^(?:\[([\da-f:.]+)\]|([^:[\]]+)):(\d{1,5})$/i.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || Number(port) > 65_535)
    throw misused(`--listen is ${text}; write a host and a port, as 127.0.0.1:9464, or off`);
  return { host, port: Number(port) };
}

/** The error of a command that was called wrongly. */
export function misused(problem: string): HoldfastError {
  return new HoldfastError("COMMAND_INVALID", problem);
}
