/** How fast the difference of two states is found, and how large it is: prints both by case as JSON. */
import { defineMachine, diff, freezeStates, type Json, type State, start, step } from "holdfast";

freezeStates(false);

interface Message {
  readonly role: string;
  readonly text: string;
}

const machine = defineMachine<{ messages: Message[]; turns: number; window: number[] }>({
  id: "chat",
  start: { messages: [], turns: 0, window: [] },
  initial: "open",
  states: {
    open: {
      on: {
        say: {
          update: (draft) => {
            draft.messages.push({ role: "user", text: "x".repeat(400) });
            draft.turns += 1;
          },
        },
        count: {
          update: (draft) => {
            draft.turns += 1;
          },
        },
        slide: {
          update: (draft) => {
            draft.window.push(draft.turns);
            draft.window.shift();
          },
        },
        fill: {
          update: (draft) => {
            draft.window = Array.from({ length: 1_000 }, (_, index) => index);
          },
        },
      },
    },
  },
});

const take = (state: State<never>, type: string): State<never> =>
  step(machine, state as never, { type }, { at: 0 }).state as never;
const first = start(machine, undefined, { at: 0 }).state as never as State<never>;
let long = take(first, "fill");
for (let turn = 0; turn < 2_000; turn++) long = take(long, "say");

const cases: Record<string, readonly [State<never>, State<never>]> = {
  "one field of a small state": [first, take(first, "count")],
  "the 1st message of a conversation": [first, take(first, "say")],
  "the 2,001st message": [long, take(long, "say")],
  "a window of 1,000 that moved by one": [long, take(long, "slide")],
};

const results: Record<string, { perSecond: number; bytes: number }> = {};
for (const [name, [before, after]] of Object.entries(cases)) {
  const [from, to] = [before, after] as unknown as [Json, Json];
  const timed = (forMs: number) => {
    let count = 0;
    const begun = performance.now();
    while (performance.now() - begun < forMs) for (let turn = 0; turn < 20; turn++, count++) diff(from, to);
    return (count * 1000) / (performance.now() - begun);
  };
  timed(100);
  results[name] = { perSecond: timed(300), bytes: JSON.stringify(diff(from, to)).length };
}
console.log(JSON.stringify(results));
