/** The reference of HTTP against the contract: the page is made from it, so neither can change alone. */
import { expect, test } from "vitest";
import { httpReference } from "../../scripts/http-reference.ts";
import { routes } from "../../src/server/index.ts";
import { projectFiles } from "../project.ts";

test("D1: docs/reference/http.md has every route of the contract and no other", async () => {
  expect(projectFiles).toContain("docs/reference/http.md");
  const page = httpReference();
  for (const name of Object.keys(routes)) expect(page).toContain(`\n### ${name}\n`);
  await expect(page).toMatchFileSnapshot("../../docs/reference/http.md");
});
