/**
 * What a run did, as a Mermaid state diagram: a box for each condition it was in, and an arrow for each way it went, with
 * the numbers of the steps and the events that led there. Beside the machine's own diagram it shows what was used of it.
 */
import { escaped, type MermaidOptions } from "./export.ts";

/** A step of a run, as the journal has it: what came, and the states that were active afterwards. */
export interface RanStep {
  readonly event: { readonly type: string };
  readonly configuration: readonly string[];
}

/** How many steps of one arrow are counted by their numbers; of more, the last. */
const numbersMax = 5;

/** The steps of a run, from its start on, as the text of a `stateDiagram-v2`. */
export function runToMermaid(
  steps: Iterable<RanStep>,
  { direction = "TB" }: Pick<MermaidOptions, "direction"> = {},
): string {
  const boxes = new Map<string, string>();
  const arrows = new Map<string, Arrow>();
  let from = "[*]";
  let number = 0;
  for (const { event, configuration } of steps) {
    const label = configuration.join(", ");
    const to = boxes.get(label) ?? `c${boxes.size + 1}`;
    boxes.set(label, to);
    const key = JSON.stringify([from, to, event.type]);
    const arrow = arrows.get(key) ?? { way: `${from} --> ${to}`, type: event.type, numbers: [] };
    arrow.numbers.push(++number);
    arrows.set(key, arrow);
    from = to;
  }
  return [
    "stateDiagram-v2",
    `  direction ${direction}`,
    ...[...boxes].map(([label, id]) => `  state "${escaped(label)}" as ${id}`),
    ...[...arrows.values()].map(({ way, type, numbers }) => `  ${way}: ${shown(numbers)} ${escaped(type)}`),
    "",
  ].join("\n");
}

/** The steps that led from one box to another by events of one type. */
interface Arrow {
  readonly way: string;
  readonly type: string;
  readonly numbers: number[];
}

function shown(numbers: readonly number[]): string {
  if (numbers.length <= numbersMax) return numbers.join(", ");
  return `${numbers.slice(0, numbersMax - 1).join(", ")} … ${numbers.at(-1)}`;
}
