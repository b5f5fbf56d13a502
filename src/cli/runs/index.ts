/** `holdfast runs`: looking at runs and steering them. */
import type { Command } from "commander";
import { commandOf, type World } from "../world.ts";
import { listCommand } from "./list.ts";
import { showCommand, tailCommand } from "./show.ts";
import { cancelCommand, retryCommand, sendCommand, startCommand } from "./steer.ts";
import { diffCommand, forkCommand, rollbackCommand } from "./travel.ts";

const commands = [
  ...[listCommand, showCommand, tailCommand, startCommand, sendCommand, cancelCommand, retryCommand],
  ...[rollbackCommand, forkCommand, diffCommand],
];

export function runsCommand(world: World): Command {
  const group = commandOf({ name: "runs", about: "Looks at runs, and steers them." });
  for (const make of commands) group.addCommand(make(world));
  return group;
}
