/** `holdfast doctor` as a test runs it, and what it told. */
import { execute } from "../../src/cli/command.ts";
import { stillWorld } from "./read-command.ts";

export interface Told {
  readonly code: number;
  readonly isWell: boolean;
  /** The findings that are not good, by check. How full the disk of this machine is says nothing about the program. */
  readonly troubles: Readonly<Record<string, string>>;
  readonly found: Readonly<Record<string, string>>;
  readonly remedies: Readonly<Record<string, string | undefined>>;
}

/** What any command says and ends with. */
export async function run(argv: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  const { world, said } = stillWorld();
  const code = await execute(argv, world);
  return { code, out: said.out.trim(), err: said.err.trim() };
}

export async function doctor(store: string, ...more: string[]): Promise<Told> {
  const { code, out } = await run(["doctor", "--store", store, "--json", ...more]);
  const { isWell, findings } = JSON.parse(out) as {
    isWell: boolean;
    findings: { check: string; status: string; found: string; remedy?: string }[];
  };
  const troubles = findings.filter(({ status, check }) => status !== "good" && check !== "disk");
  return {
    ...{ code, isWell },
    troubles: Object.fromEntries(troubles.map(({ check, status }) => [check, status])),
    found: Object.fromEntries(findings.map(({ check, found }) => [check, found])),
    remedies: Object.fromEntries(findings.map(({ check, remedy }) => [check, remedy])),
  };
}
