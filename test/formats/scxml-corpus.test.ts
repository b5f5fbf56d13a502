/**
 * The W3C and SCION cases once more, each read, written and read again: what comes back must still meet every
 * expectation of its case. One case needs a server, and is left to the proof.
 */
import { expect, test } from "vitest";
import { lanesOf, readCorpus } from "../../prove/scxml/corpus.ts";
import type { HttpProcessor } from "../../prove/scxml/http.ts";
import { checkPair } from "../../prove/scxml/pair.ts";
import { toScxml } from "../../src/core/formats/scxml/export.ts";
import { loadScxml, type ScxmlOptions } from "../../src/ecmascript/index.ts";

const needServer = ["w3c-ecma/test201.txml"];

test("every case passes after it was written again, and nothing in it is noted", async () => {
  const scxml = await loadScxml();
  const notes: unknown[] = [];
  const writtenAgain = (text: string, options?: ScxmlOptions) => {
    const written = toScxml(scxml(text, options));
    notes.push(...written.notes);
    return scxml(written.text, options);
  };
  const http = { environment: () => ({}), listen: () => undefined } as unknown as HttpProcessor;
  const tools = { scxml: Object.assign(writtenAgain, { machine: scxml.machine }), http };
  const failures: string[] = [];
  const cases = readCorpus().filter((one) => lanesOf(one).includes("pair") && !needServer.includes(one.name));
  for (const fixture of cases) {
    const verdict = await checkPair(fixture, tools, false);
    if (verdict !== undefined) failures.push(`${fixture.name}: ${verdict}`);
  }
  expect(cases.length).toBe(315);
  expect(failures).toEqual([]);
  expect(notes).toEqual([]);
});
