/** What commands tell as JSON, word for word: programs are written against it. Times and digests are written as a word. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { execute } from "../../src/cli/command.ts";
import { root } from "../project.ts";
import { everyCommand, stillWorld } from "./read-command.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-json-"));
const place = ["--store", join(folder, "s.db"), "--module", join(folder, "machines.ts")];

async function told(...argv: string[]) {
  const { world, said } = stillWorld();
  const code = await execute(argv, { ...world, cwd: folder, stop: new AbortController().signal });
  return { code, ...said };
}

const steady = (text: string): string =>
  text.replaceAll(/\b\d{13}\b/g, "TIME").replaceAll(/"(hash|digest)": ?"[^"]+"/g, '"$1": "DIGEST"');

beforeAll(async () => {
  writeFileSync(
    join(folder, "machines.ts"),
    `import { defineMachine } from ${JSON.stringify(pathToFileURL(join(root, "src/index.ts")).href)};
     export const ask = defineMachine({
       id: "ask", start: () => ({ euros: 1 }), initial: "asking",
       states: { asking: { approval: { onApproved: "done", onRejected: "done" } }, done: { type: "final" } },
     });`,
  );
  await told("db", "migrate", "--store", join(folder, "s.db"));
  const acting = ["--as", "ada", ...place];
  await told("runs", "start", "ask", "--id", "a-1", ...acting);
  await told("runs", "start", "ask", "--id", "a-2", ...acting);
  await told("inbox", "approve", "a-2", ...acting);
});
afterAll(() => rmSync(folder, { recursive: true }));

test.each(["runs list", "runs show a-1", "runs tail a-2 --from 1", "inbox list", "machines list"])(
  "%s tells the same JSON as ever",
  async (line) => {
    const { code, out, err } = await told(...line.split(" "), "--json", ...place);
    expect([code, err]).toEqual([0, ""]);
    expect(steady(out)).toMatchSnapshot();
  },
);

test("every command that does something tells it as JSON if asked to", () => {
  for (const { name, command } of everyCommand())
    if (command.commands.length === 0)
      expect([name, command.options.map(({ long }) => long)]).toEqual([
        name,
        expect.arrayContaining(["--json"]),
      ]);
});
