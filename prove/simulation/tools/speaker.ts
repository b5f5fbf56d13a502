/** A speaker that says a number of pieces, gathered or one after the other, and fails, hangs or answers after some. */
import type { Piece } from "../ledger.ts";
import type { Tool, Use } from "./tool.ts";

export const speakTool: Tool = {
  async act(use) {
    const { world, wait, answer } = use;
    const { random } = world;
    const end = world.isCalm() ? "answer" : random.pick(["answer", "answer", "fail", "hang", "late"]);
    const pieces = random.between(1, 8);
    use.say(`starts: ${pieces} pieces, then ${end}`);
    for (let n = 0; n < pieces; n++) {
      const said = say(use, n);
      // Whoever waits for a piece sees it fail; whoever does not gives its answer all the same.
      if (random.chance(0.4)) await said;
      if (random.chance(0.5)) await wait(random.between(0, 900));
    }
    if (end === "fail") throw new Error("hoarse");
    if (end === "hang") return new Promise(() => {});
    if (end === "late") await wait(random.between(3_000, 12_000));
    return answer();
  },
};

function say({ world: { ledger, judge }, life, scope, start }: Use, n: number): Promise<void> {
  const piece: Piece = { start: ledger.starts.get(scope.key)?.indexOf(start) ?? 0, n };
  start.pieces = n + 1;
  const said = scope.write({ ...piece }).then(() => {
    if (life.status !== "dead") judge.pieceKept(life, scope.key, piece);
  });
  said.catch(() => {});
  return said;
}
