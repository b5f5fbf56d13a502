/** The command at a real terminal (tmux): it asks where a person is, colours what it says, and can be left at any time. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findProgram } from "../lanes.ts";
import { root } from "../project.ts";

const tmux = findProgram("tmux");
const folder = mkdtempSync(join(tmpdir(), "holdfast-terminal-"));
/** A server of its own, so that nobody's sessions are touched. */
const socket = `holdfast-${process.pid}`;
const session = (...given: string[]): string =>
  spawnSync(tmux as string, ["-L", socket, ...given], { encoding: "utf8", cwd: folder }).stdout;
const screen = (): string => session("capture-pane", "-p", "-J", "-t", "people");
const type = (...keys: string[]) => session("send-keys", "-t", "people", ...keys, "Enter");
const shows = (pattern: RegExp) => expect.poll(screen).toMatch(pattern);
const command = `${process.execPath} --conditions=holdfast-source --no-warnings ${join(root, "src/cli/main.ts")}`;

describe.skipIf(tmux === undefined)("at a terminal", () => {
  beforeAll(() => {
    session(
      "new-session",
      "-d",
      "-s",
      "people",
      "-x",
      "140",
      "-y",
      "50",
      "env -u CI -u NO_COLOR bash --norc --noprofile",
    );
    type(`PS1='> '; holdfast() { ${command} "$@"; }; clear`);
  });
  afterAll(() => {
    session("kill-server");
    rmSync(folder, { recursive: true });
  });

  test("init asks for what it was not told, and makes what was chosen", async () => {
    type("holdfast init");
    await shows(/Where\?/);
    type("mine");
    await shows(/Where are its runs kept\?/);
    session("send-keys", "-t", "people", "Down");
    type("");
    await shows(/npm run dev/);
    expect(existsSync(join(folder, "mine/src/expense.ts"))).toBe(true);
    type("clear; grep store mine/package.json");
    await shows(/postgres:/);
  });

  test("a run is stepped by a person, event by event, with slips of the fingers, and left parked", async () => {
    const entry = pathToFileURL(join(root, "src/index.ts")).href;
    writeFileSync(
      join(folder, "machines.ts"),
      `import { defineMachine } from ${JSON.stringify(entry)};
       export const lamp = defineMachine({ id: "lamp", initial: "off", states: { off: { on: { press: "on" } }, on: { on: { press: "off" } } } });`,
    );
    type("clear; holdfast db migrate --store a.db");
    await shows(/The schema is current/);
    type("clear; holdfast runs start lamp --id l-1 --store a.db --module machines.ts");
    await shows(/l-1: waits for press/);
    type("clear; holdfast step l-1 --store a.db --module machines.ts");
    await shows(/q leave it >/);
    type("s press");
    // What is typed before it asks again is lost.
    await shows(/> s press *\n[\s\S]*q leave it >/);
    type("");
    await shows(/press by \S+ → on/);
    // A slip of the fingers is told, and asked about again.
    type("s press {bad");
    await shows(/is no JSON[\s\S]*q leave it >/);
    type("s");
    await shows(/Say which event to send[\s\S]*q leave it >/);
    type("q");
    await shows(/l-1 stays parked; holdfast step l-1 --go lets it go on/);
    await shows(/^> $/m);
    type("clear; holdfast runs show l-1 --store a.db --module machines.ts | grep -E 'status|states'");
    await shows(/status +parked\nstates +on/);
  });

  test("colours are for those who want them", async () => {
    type("clear; holdfast doctor --store a.db | cat -v | head -2; echo piped");
    await shows(/^piped *$/m);
    expect(screen()).not.toContain("^[[");
    type("clear; NO_COLOR=1 holdfast doctor --store a.db; echo plain");
    await shows(/^plain *$/m);
    const coloured = () => session("capture-pane", "-p", "-e", "-t", "people");
    expect(coloured()).not.toContain("\u001b[32m");
    type("clear; holdfast doctor --store a.db; echo over");
    await shows(/^over *$/m);
    expect(coloured()).toContain("\u001b[32m");
  });
});
