/** How well references are resolved: the labelled set, and what the rules make of it. */
import { readFileSync } from "node:fs";
import { readEnglish } from "../../src/agent/thread/english.ts";
import { emptySalience, noteMentions, resolveReferences } from "../../src/agent/thread/salience.ts";

interface Turn {
  readonly by: string;
  readonly text: string;
  /** What phrases of it mean. */
  readonly means?: Readonly<Record<string, string>>;
}

export interface Dialogue {
  readonly id: string;
  /** Whether it was kept aside while the rules were written. */
  readonly held: boolean;
  readonly turns: readonly Turn[];
}

export interface Answer {
  readonly dialogue: string;
  readonly held: boolean;
  readonly phrase: string;
  readonly expected: string;
  readonly given: string | undefined;
  readonly margin: number;
  readonly right: boolean;
}

export const dialogues: readonly Dialogue[] = JSON.parse(
  readFileSync(new URL("./references.json", import.meta.url), "utf8"),
).dialogues;

/** What every labelled phrase is taken to mean. */
export const answers = (): Answer[] => dialogues.flatMap(answersOf);

function answersOf({ id, held, turns }: Dialogue): Answer[] {
  const salience = emptySalience();
  return turns.flatMap(({ by, text, means = {} }) => {
    const reading = readEnglish(text);
    const meant = resolveReferences(salience, reading, by);
    noteMentions(salience, reading, by);
    return Object.entries(means).map(([phrase, expected]): Answer => {
      const index = reading.references.findIndex((reference) => reference.phrase === phrase);
      const { entity: given, margin = 0 } = meant[index] ?? { entity: undefined };
      const right = given?.toLowerCase() === expected.toLowerCase();
      return { dialogue: id, held, phrase, expected, given, margin, right };
    });
  });
}

export const accuracy = (list: readonly Answer[]): number =>
  list.filter(({ right }) => right).length / list.length;
