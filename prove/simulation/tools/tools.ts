/** Every tool that runs can call, as one process has them. */
import type { Activity } from "../../../src/runtime/activity/attempt.ts";
import type { Life } from "../life.ts";
import { grindTool } from "../machines/mill.ts";
import { bookTool, unbookTool } from "../machines/trip.ts";
import { anything, scripted } from "./scripts.ts";
import { speakTool } from "./speaker.ts";
import { auditOf, chargeTool } from "./till.ts";
import { activityOf, type Tool, type ToolWorld } from "./tool.ts";

const tools: Readonly<Record<string, Tool>> = {
  fetch: scripted(anything),
  pay: scripted(anything, true),
  crawl: scripted(anything),
  [bookTool]: scripted(["answer", "answer", "answer", "answer later", "fail", "fatal", "answer late"]),
  // Nobody gives it up when it takes too long.
  [unbookTool]: scripted(["answer", "answer", "answer later", "fail", "fatal", "keep and fail"]),
  [grindTool]: scripted(anything),
  charge: chargeTool,
  speak: speakTool,
};

export function toolsOf(world: ToolWorld, life: Life): Record<string, Activity> {
  const own = Object.entries(tools).map(
    ([name, tool]) => [name, activityOf(world, life, name, tool)] as const,
  );
  return { ...Object.fromEntries(own), audit: auditOf(world, life) };
}
