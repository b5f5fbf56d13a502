/**
 * Expectation files that are wrong, what is expected instead, and why. Three belong to tests that W3C marks as manual:
 * the documents have no state `pass`, only `final`, and a person is meant to read the log, which `checkLog` does. Two
 * expect what SCION does where it differs from SCXML.
 */
import type { Simulation } from "../../src/core/simulate.ts";
import type { Expectation } from "./corpus.ts";

export interface Correction {
  readonly reason: string;
  readonly expectation: Expectation;
  /** What is wrong with the log; undefined if nothing is. */
  readonly checkLog?: (logs: Simulation["logs"]) => string | undefined;
}

const endsInFinal = (start: string, after: number): Expectation => ({
  initialConfiguration: [start],
  events: [{ after, event: { name: "t1" }, nextConfiguration: ["final"] }],
});

const notByScion =
  "expects that a transition from a region to itself leaves the parallel state alone, as SCION has it. In SCXML the least common compound ancestor is a <state> or <scxml>, never a <parallel> (3.1.3 and findLCCA), so the parallel state is left and entered again; the file's own legacySemantics block has that answer";

const stepsTo = (...configurations: readonly (readonly string[])[]): Expectation => ({
  initialConfiguration: ["a", "b"],
  events: configurations.map((nextConfiguration, index) => ({
    event: { name: `t${index + 1}` },
    nextConfiguration,
  })),
});

export const corrections: Readonly<Record<string, Correction>> = {
  // x counts entries and exits: 6 after the first event if the parallel state is among them, 4 if it is not.
  "more-parallel/test10": { reason: notByScion, expectation: stepsTo(["a", "b"], ["c"], ["d"]) },
  "more-parallel/test10b": { reason: notByScion, expectation: stepsTo(["a", "b"], ["a", "b"], ["a", "b"]) },
  "w3c-ecma/test230.txml": {
    reason:
      "expects pass at once; there is no such state, and final is reached when the child ends. The log must show the forwarded event with the fields of the original",
    expectation: endsInFinal("s01", 3100),
    checkLog(logs) {
      const [parent, child] = [...new Set(logs.map(({ run }) => run))].map((run) =>
        logs.filter((log) => log.run === run).map(({ label, data }) => `${label}${JSON.stringify(data)}`),
      );
      if (parent?.length !== 7) return `the parent logged ${parent?.length ?? 0} fields instead of 7`;
      const same = parent.join("\n") === child?.join("\n");
      return same ? undefined : `parent and child differ:\n${parent.join("\n")}\n--\n${child?.join("\n")}`;
    },
  },
  "w3c-ecma/test250.txml": {
    reason:
      "expects pass at once; there is no such state, and final is reached after foo. The log must show that the cancelled child ran its exit handlers",
    expectation: endsInFinal("s0", 2100),
    checkLog(logs) {
      const shown = logs.map(({ data }) => data).join(", ");
      return shown === "Exiting sub01, Exiting sub0" ? undefined : `the log is: ${shown}`;
    },
  },
  "w3c-ecma/test307.txml": {
    reason:
      "expects pass; there is no such state, only final. The log must show the same for a variable not bound yet and for a part of one that is not there",
    expectation: endsInFinal("final", 0),
    checkLog(logs) {
      const errors = logs.filter(({ label }) => label?.startsWith("error in state")).length;
      return errors === 1 ? "one access failed and the other did not" : undefined;
    },
  },
};
