/** A machine of whatever context, events and input: formats do not care. */
import type { Machine } from "../machine.ts";

export type AnyMachine = Pick<Machine, "id" | "version" | "chart" | "machines" | "missing"> & {
  readonly definition: object;
};
