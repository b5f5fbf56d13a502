/** Maps. */
import type { Code, Condition } from "./chart.ts";
import type { Compiler } from "./compiler.ts";
export function compileMapAction(_c: Compiler, _s: unknown, _p: string): Code {
  return () => {};
}
export function compileItemGuard(_c: Compiler, _s: unknown, _p: string): Condition {
  return () => false;
}
export function itemOf(_c: Compiler, _s: unknown, _p: string): undefined {
  return undefined;
}
