/**
 * What a proof is told on its command line. `--help` lists it, and what cannot be meant is said in a line before anything has
 * begun.
 */
import { parseArgs } from "node:util";

/** One flag: what it does, what stands for its value in `--help`, and the value of a text. Without `takes` it is given or not. */
interface Flag<Value> {
  readonly says: string;
  readonly takes?: string;
  /** What holds where it is not given. */
  readonly unless: Value;
  /** Throws what it must be. */
  read(text: string): Value;
}

type Values<Flags> = {
  readonly [Name in keyof Flags]: Flags[Name] extends Flag<infer Value> ? Value : never;
};

/** A whole number, or one that is also a fraction, of at least so much. */
export function number<Unless extends number | undefined>(
  says: string,
  unless: Unless,
  { least = 0, isWhole = true } = {},
): Flag<number | Unless> {
  const read = (text: string) => {
    const value = Number(text);
    if (text.trim() !== "" && value >= least && (isWhole ? Number.isSafeInteger(value) : value < 1e9))
      return value;
    throw new Error(`must be a ${isWhole ? "whole " : ""}number of at least ${least}`);
  };
  return { says, takes: "N", unless, read };
}

/** Any text. */
export function text(says: string, takes: string): Flag<string | undefined> {
  return { says, takes, unless: undefined, read: (given) => given };
}

/** One of these. */
export function oneOf<const Name extends string, const Unless extends Name | undefined>(
  says: string,
  names: readonly Name[],
  unless: Unless,
): Flag<Name | Unless> {
  const read = (given: string) => {
    const name = names.find((one) => one === given);
    if (name !== undefined) return name;
    throw new Error(`must be one of: ${names.join(", ")}`);
  };
  return { says, takes: names.length > 6 ? "NAME" : names.join("|"), unless, read };
}

/** A planted bug, by its name. */
export function oneBug<Bug extends { readonly name: string }>(
  says: string,
  bugs: readonly Bug[],
): Flag<Bug | undefined> {
  const { read, ...flag } = oneOf(
    says,
    bugs.map(({ name }) => name),
    undefined,
  );
  return {
    ...flag,
    takes: "NAME",
    unless: undefined,
    read: (given) => bugs.find(({ name }) => name === read(given)),
  };
}

/** Given or not. */
export function given(says: string): Flag<boolean> {
  return { says, unless: false, read: () => true };
}

/** The flags of `npm run prove:<name>`. Ends the process after `--help`, with 0, and if one cannot be meant, with 2. */
export function readFlags<Flags extends Readonly<Record<string, Flag<unknown>>>>(
  name: string,
  about: string,
  flags: Flags,
  args: readonly string[] = process.argv.slice(2),
): Values<Flags> {
  if (args.includes("--help")) {
    console.log(helpOf(name, about, flags));
    process.exit(0);
  }
  try {
    return valuesOf(flags, args);
  } catch (error) {
    console.error(
      `prove:${name}: ${(error as Error).message}. \`npm run prove:${name} -- --help\` lists what it takes.`,
    );
    process.exit(2);
  }
}

/** Throws what is wrong with the first that is. */
export function valuesOf<Flags extends Readonly<Record<string, Flag<unknown>>>>(
  flags: Flags,
  args: readonly string[],
): Values<Flags> {
  const options = Object.fromEntries(
    Object.entries(flags).map(([name, { takes }]) => [
      name,
      { type: takes === undefined ? ("boolean" as const) : ("string" as const) },
    ]),
  );
  const { tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true });
  const values: Record<string, unknown> = {};
  for (const [name, { unless }] of Object.entries(flags)) values[name] = unless;
  for (const token of tokens) {
    if (token.kind === "positional") throw new Error(`${JSON.stringify(token.value)} means nothing here`);
    if (token.kind === "option-terminator") continue;
    const flag = Object.hasOwn(flags, token.name) ? flags[token.name] : undefined;
    if (flag === undefined) throw new Error(`There is no ${token.rawName}`);
    values[token.name] = read(token.rawName, flag, token.value);
  }
  return values as Values<Flags>;
}

function read(name: string, flag: Flag<unknown>, value: string | undefined): unknown {
  const { takes } = flag;
  if (takes === undefined && value !== undefined) throw new Error(`${name} takes no value`);
  if (takes !== undefined && value === undefined) throw new Error(`${name} wants ${takes}`);
  try {
    return flag.read(value ?? "");
  } catch (error) {
    throw new Error(`${name} ${(error as Error).message}; it is ${JSON.stringify(value)}`);
  }
}

export function helpOf(name: string, about: string, flags: Readonly<Record<string, Flag<unknown>>>): string {
  const rows = Object.entries(flags).map(([flag, { takes, says, unless }]) => {
    const left = takes === undefined ? `--${flag}` : `--${flag} ${takes}`;
    const isTold = unless !== undefined && typeof unless !== "boolean";
    return { left, right: isTold ? `${says} (${unless})` : says };
  });
  const width = Math.max(...rows.map(({ left }) => left.length));
  const lines = rows.map(({ left, right }) => `  ${left.padEnd(width)}  ${right}`);
  return [`npm run prove:${name} -- [flags]`, about, "", ...lines].join("\n");
}
