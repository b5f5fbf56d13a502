/** A document with an expectation file: every configuration must be exactly the expected set. */
import type { Expectation, Fixture } from "./corpus.ts";
import { corrections } from "./expectations.ts";
import { ProofSession, type Tools } from "./session.ts";

/** What is wrong; undefined if nothing is. */
export type Verdict = string | undefined;

/** Runs a document through its expectations, restoring it from JSON after every step if asked to. */
export async function checkPair(fixture: Fixture, tools: Tools, restore: boolean): Promise<Verdict> {
  const correction = corrections[fixture.name];
  const expectation = correction?.expectation ?? (fixture.expectation as Expectation);
  const session = new ProofSession(fixture, tools, restore);
  const differs = difference("at the start", expectation.initialConfiguration, session);
  if (differs !== undefined) return differs;
  for (const [index, { after = 0, event, nextConfiguration }] of expectation.events.entries()) {
    await session.wait(after);
    // Two expectation files end with an event without a name: it only marks the moment to look.
    if (event.name !== "") await session.send({ type: event.name });
    const found = difference(`after event ${index + 1} (${event.name})`, nextConfiguration, session);
    if (found !== undefined) return found;
  }
  return correction?.checkLog?.(session.simulation.logs);
}

function difference(when: string, expected: readonly string[], session: ProofSession): Verdict {
  const wanted = [...expected].sort().join(" ");
  const actual = session.configuration.join(" ");
  if (wanted === actual) return undefined;
  const errors = session.simulation.last.errors.map(({ data }) => `\n    ${JSON.stringify(data)}`).join("");
  return `${when}: expected {${wanted}}, actual {${actual}}${errors}`;
}
