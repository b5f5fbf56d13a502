/** The instructions of the project's Dockerfile, for those who compare it with other files and who build it. */

export interface Instruction {
  readonly name: string;
  readonly rest: string;
  /** The stage it is in, from 0. */
  readonly stage: number;
}

/** The instructions of a Dockerfile that has each on one line. */
export function instructionsOf(text: string): Instruction[] {
  let stage = -1;
  return text
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => {
      const [, name = "", rest = ""] = /^([A-Z]+) (.+)$/.exec(line) ?? [];
      if (name === "FROM") stage++;
      return { name, rest, stage };
    });
}

/** The images that the stages are built on, each once. */
export function basesOf(instructions: readonly Instruction[]): string[] {
  const bases = instructions
    .filter(({ name }) => name === "FROM")
    .map(({ rest }) => rest.split(" ")[0] ?? "");
  return [...new Set(bases)];
}
