/** The proof of the API finds what is planted, and nothing else. */
import { describe, expect, test } from "vitest";
import { plants } from "./plants.ts";
import { proveApi } from "./proof.ts";

async function prove(requests: number, plant?: string): Promise<{ passed: boolean; lines: string[] }> {
  const lines: string[] = [];
  const given = plant === undefined ? {} : { plant };
  const passed = await proveApi({ seed: 1, requests, ...given, print: (line) => lines.push(line) });
  return { passed, lines };
}

describe("prove:api", () => {
  test("F5: finds nothing where nothing is planted", async () => {
    const { passed, lines } = await prove(200);
    expect({ passed, lines }).toMatchObject({ passed: true });
  });

  test.each(plants.map(({ name }) => name))("F5: finds %s", async (name) => {
    const { passed, lines } = await prove(1_500, name);
    expect({ passed, last: lines.at(-1) }).toMatchObject({ passed: true });
  });
});
