/** The commands and their options, as data: what is read and what `--help` shows come from here. */

export interface Option {
  /** What stands after it; a switch has none. */
  readonly value?: string;
  readonly about: string;
}

export const options = {
  store: {
    value: "URL",
    about: "postgres://… or the path of a SQLite file; the variable HOLDFAST_STORE unless given",
  },
  schema: { value: "NAME", about: "the schema of a PostgreSQL store; holdfast unless given" },
  signals: {
    value: "URL",
    about: "where workers hear from each other, if --store leads through a pooler; off: nowhere",
  },
  slots: { value: "N", about: "how many activities one process runs at a time; 1000 unless given" },
  drain: { value: "TIME", about: "how long activities may take to end after SIGTERM; 30s unless given" },
  listen: {
    value: "HOST:PORT",
    about: "where /healthz, /readyz and /metrics are served; 127.0.0.1:9464 unless given, off for nowhere",
  },
  min: { value: "N", about: "how many workers there are at least; 1 unless given" },
  max: { value: "N", about: "how many workers there are at most; 4 unless given" },
  every: { value: "TIME", about: "how often the load is looked at; 2s unless given" },
  "cool-down": { value: "TIME", about: "how long it must be calm before workers go; 30s unless given" },
  workers: { value: "N", about: "how many workers are meant to run; those that are there unless given" },
  json: { about: "tells it as JSON" },
  help: { about: "tells how it is called" },
} as const satisfies Readonly<Record<string, Option>>;

export type OptionName = keyof typeof options;

export interface Command {
  readonly about: string;
  readonly takesModule: boolean;
  readonly options: readonly OptionName[];
}

export const commands = {
  worker: {
    about: "Runs the machines of a module until it is told to stop (SIGTERM or SIGINT; twice: at once).",
    takesModule: true,
    options: ["store", "schema", "signals", "slots", "drain", "listen", "help"],
  },
  fleet: {
    about: "Starts and stops workers on this machine, by how much there is to do.",
    takesModule: true,
    options: ["store", "schema", "signals", "slots", "drain", "min", "max", "every", "cool-down", "help"],
  },
  doctor: {
    about: "Looks whether a store and those who share it are well, and says what to do where they are not.",
    takesModule: false,
    options: ["store", "schema", "signals", "workers", "json", "help"],
  },
} as const satisfies Readonly<Record<string, Command>>;

export type CommandName = keyof typeof commands;

/** How a command is called; of all of them without a name. */
export function usage(name?: CommandName): string {
  if (name === undefined) {
    const lines = Object.entries(commands).map(([command, { about }]) => `  ${command.padEnd(8)} ${about}`);
    return ["holdfast COMMAND …", "", ...lines, "", "holdfast COMMAND --help tells more."].join("\n");
  }
  const command: Command = commands[name];
  const rows = command.options.map((option) => {
    const { value, about }: Option = options[option];
    return { call: `--${option}${value === undefined ? "" : ` ${value}`}`, about };
  });
  const width = Math.max(...rows.map(({ call }) => call.length));
  return [
    `holdfast ${name}${command.takesModule ? " MODULE" : ""} [options]`,
    "",
    command.about,
    "",
    ...rows.map(({ call, about }) => `  ${call.padEnd(width)}  ${about}`),
    "",
    "Ends with 0 when all went well, 1 when something failed, 2 when it was called wrongly, and 3 when activities",
    "took longer to end than they were given.",
  ].join("\n");
}
