/** The documents without an expectation file: those that need HTTP, and those that a person is meant to look at. */
import { isHoldfastError } from "../../src/errors.ts";
import type { Fixture } from "./corpus.ts";
import type { Verdict } from "./pair.ts";
import { ProofSession, type Tools } from "./session.ts";

/** An HTTP case passes by reaching `pass`, with its messages sent over the wire. */
export async function checkHttp(fixture: Fixture, tools: Tools): Promise<Verdict> {
  const served = tools.http.served;
  const session = new ProofSession(fixture, tools, false);
  await session.settle();
  const ended = session.configuration.join(" ");
  if (ended !== "pass") return `expected {pass}, actual {${ended}}`;
  // 577 has no target, so that nothing can be sent; all others must have sent something.
  const sent = tools.http.served - served;
  const expected = fixture.name.endsWith("test577.txml") ? 0 : 1;
  return sent === expected ? undefined : `expected ${expected} requests, actual ${sent}`;
}

/** What the tester would look at, looked at. */
const manualChecks: Readonly<Record<string, (fixture: Fixture, tools: Tools) => Promise<Verdict>>> = {
  /** "The tester must look at the log output and verify that both keys are there." */
  async "w3c-ecma/test178.txml"(fixture, tools) {
    const session = new ProofSession(fixture, tools, false);
    await session.settle();
    const logged = session.simulation.logs.find(({ label }) => label?.trim() === "_event")?.data;
    const values = typeof logged === "string" ? JSON.stringify(JSON.parse(logged).data) : undefined;
    if (session.configuration.join(" ") !== "final") return `actual {${session.configuration}}`;
    return values === '{"Var1":[2,3]}' ? undefined : `the logged message is ${logged}`;
  },
  /** "The processor should reject this document because it can't download the script." */
  async "w3c-ecma/test301.txml"(fixture, tools) {
    try {
      new ProofSession(fixture, tools, false);
      return "the document was accepted";
    } catch (error) {
      const refused =
        isHoldfastError(error) && error.code === "SCXML_INVALID" && error.message.includes("script");
      return refused ? undefined : `refused for another reason: ${error}`;
    }
  },
  /** "This machine should halt immediately without processing event1." The trace shows what was processed. */
  async "w3c-ecma/test415.txml"(fixture, tools) {
    const { simulation } = new ProofSession(fixture, tools, false);
    if (simulation.state.status !== "done") return `the session is ${simulation.state.status}`;
    const processed = simulation.last.trace?.microsteps.map(({ event }) => event?.type) ?? [];
    return processed.join(" ") === "start" ? undefined : `processed: ${processed}`;
  },
};

export async function checkManual(fixture: Fixture, tools: Tools): Promise<Verdict> {
  return manualChecks[fixture.name]?.(fixture, tools) ?? "nobody looks at it";
}
