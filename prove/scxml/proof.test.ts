/** The proof can fail: on a wrong expectation, on a wrong end, on a document that no lane claims, on none at all. */
import { expect, test } from "vitest";
import { type Fixture, lanesOf, readCorpus } from "./corpus.ts";
import { proveScxml } from "./proof.ts";

const corpus = readCorpus();
const fixture = (name: string): Fixture => {
  const found = corpus.find((one) => one.name === name);
  if (found === undefined) throw new Error(`There is no fixture ${name}`);
  return found;
};

async function prove(
  fixtures: readonly Fixture[],
  only?: string,
): Promise<{ passed: boolean; lines: string[] }> {
  const lines: string[] = [];
  const passed = await proveScxml({ fixtures, only, print: (line) => lines.push(line) });
  return { passed, lines };
}

test("every fixture of the corpus is claimed by exactly one lane, in the numbers the proof promises", () => {
  const counts = Map.groupBy(corpus, (one) => lanesOf(one).join("+"));
  expect(Object.fromEntries([...counts].map(([lane, all]) => [lane, all.length]))).toEqual({
    pair: 316,
    http: 11,
    manual: 3,
    helper: 5,
  });
});

test("a right expectation passes, and the last line says so", async () => {
  const { passed, lines } = await prove([fixture("basic/basic1")]);
  expect(passed).toBe(true);
  expect(lines[0]).toMatch(/^seed /);
  expect(lines.at(-1)).toBe(
    "prove:scxml passed 1/1 pairs, 1/1 restored, 0/0 http, 0/0 manual, 1/1 fixtures claimed",
  );
});

test.each([
  ["at the start", { initialConfiguration: ["b"], events: [] }],
  ["with a state too many", { initialConfiguration: ["a", "b"], events: [] }],
  [
    "after an event",
    { initialConfiguration: ["a"], events: [{ event: { name: "t" }, nextConfiguration: ["a"] }] },
  ],
])("a wrong expectation %s fails, with both configurations", async (_, expectation) => {
  const { passed, lines } = await prove([{ ...fixture("basic/basic1"), expectation }]);
  expect(passed).toBe(false);
  expect(
    lines.some((line) => /^FAILED pairs basic\/basic1 .*expected \{.*\}, actual \{.*\}/.test(line)),
  ).toBe(true);
  expect(lines.at(-1)).toMatch(/^prove:scxml failed 0\/1 pairs, 0\/1 restored/);
});

test("a document that throws fails", async () => {
  const { passed, lines } = await prove([{ ...fixture("basic/basic1"), text: "<nonsense/>" }]);
  expect(passed).toBe(false);
  expect(lines.join("\n")).toContain("SCXML document");
});

test("an HTTP case that ends elsewhere, or sends nothing, fails", async () => {
  const http = fixture("w3c-ecma/test509.txml");
  const elsewhere = await prove([
    { ...http, text: http.text.replace("search('POST') !==", "search('POST') ===") },
  ]);
  expect(elsewhere.lines.at(-1)).toMatch(/^prove:scxml failed .* 0\/1 http/);
  const silent = await prove([{ ...http, text: '<scxml datamodel="null"><final id="pass"/></scxml>' }]);
  expect(silent.lines.join("\n")).toContain("expected 1 requests, actual 0");
});

test("manual cases whose log, refusal or trace is not as it should be fail", async () => {
  const manual = ["178", "301", "415"].map((number) => fixture(`w3c-ecma/test${number}.txml`));
  const [log, refusal, halt] = manual as [Fixture, Fixture, Fixture];
  const { lines } = await prove([
    { ...log, text: log.text.replace('expr="3"', 'expr="2"') },
    { ...refusal, load: () => "" },
    { ...halt, text: halt.text.replaceAll("final", "state") },
  ]);
  expect(lines.filter((line) => line.startsWith("FAILED manual"))).toHaveLength(3);
});

test("a document that no lane claims fails the run", async () => {
  const { passed, lines } = await prove([
    fixture("basic/basic1"),
    { ...fixture("basic/basic0"), expectation: undefined },
  ]);
  expect(passed).toBe(false);
  expect(lines).toContain("basic/basic0: claimed by no lane");
  expect(lines.at(-1)).toContain("1/2 fixtures claimed");
});

test("a document that two lanes claim fails the run", async () => {
  const twice = {
    ...fixture("w3c-ecma/test415.txml"),
    expectation: { initialConfiguration: [], events: [] },
  };
  const { passed, lines } = await prove([twice]);
  expect(passed).toBe(false);
  expect(lines).toContain("w3c-ecma/test415.txml: claimed by pair and manual");
});

test("a choice that leaves nothing to prove fails", async () => {
  expect((await prove([fixture("basic/basic1")], "nothing is called this")).passed).toBe(false);
});
