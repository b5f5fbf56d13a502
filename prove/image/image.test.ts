/** The judgement of an image sees each of the mistakes that it is there for. Building one is left to `npm run prove:image`. */
import { expect, test } from "vitest";
import { read } from "../../test/project.ts";
import { type ImageFacts, judgeImage, judgeLife, type LifeFacts, type Wanted } from "./judge.ts";
import { type Plant, planted, plants } from "./plants.ts";

const pgNeeds = { dependencies: { "pg-pool": "^3" }, optionalDependencies: { "pg-cloud": "^1" } };
const wanted: Wanted = {
  nodeMin: "24.16",
  locked: {
    "node_modules/hono": { version: "4.1.0" },
    "node_modules/pg": { version: "8.0.0", dev: true, ...pgNeeds },
    "node_modules/pg-pool": { version: "3.0.0", dev: true },
    "node_modules/pg-cloud": { version: "1.0.0", dev: true },
    "node_modules/vitest": { version: "5.0.0", dev: true },
  },
  added: ["node_modules/pg"],
  published: ["dist", "LICENSE"],
};

const sound: ImageFacts = {
  user: "1000:1000",
  environment: ["NODE_ENV=production"],
  node: "24.21.0",
  writable: ["/tmp", "/var/tmp/a"],
  files: [
    ...[
      "/app",
      "/app/machines",
      "/app/machines/index.mjs",
      "/app/node_modules",
      "/app/node_modules/holdfast",
    ],
    ...["package.json", "LICENSE", "dist/index.js", "dist/index.d.ts"].map(
      (name) => `/app/node_modules/holdfast/${name}`,
    ),
    ...["hono", "pg", "pg-pool", "pg-cloud"].map((name) => `/app/node_modules/${name}/package.json`),
    ...["/app/node_modules/hono/src/hono.ts", "/app/node_modules/.bin/holdfast"],
  ],
  packages: {
    "node_modules/holdfast": { version: "0.1.0" },
    "node_modules/hono": { version: "4.1.0" },
    "node_modules/pg": { version: "8.0.0" },
    "node_modules/pg-pool": { version: "3.0.0" },
    "node_modules/pg-cloud": { version: "1.0.0" },
  },
};

test("an image that is as it should be has no problems", () => {
  expect(judgeImage(sound, wanted)).toEqual([]);
});

const added = (path: string): Partial<ImageFacts> => ({ files: [...sound.files, path] });

test.each<[string, Partial<ImageFacts>, RegExp]>([
  ["runs as root", { user: "" }, /^I1: it runs as “”/],
  ["names its user", { user: "node" }, /^I1: it runs as “node”/],
  ["has an older Node", { node: "24.9.0" }, /^I1: it has Node 24.9.0/],
  ["can be written", { writable: ["/app/machines"] }, /^I2: \/app\/machines can be written/],
  ["has a setting", { environment: ["HOLDFAST_STORE=postgres://a:b@c/d"] }, /^I3: [^:]+: HOLDFAST_STORE$/],
  ["has what it was built from", added("/build"), /^I3: \/build does not belong/],
  ["has sources", added("/app/src/index.ts"), /^I3: \/app\/src\/index.ts does/],
  ["has sources in the package", added("/app/node_modules/holdfast/dist/a.ts"), /^I3: .*a.ts does/],
  ["has more in the package", added("/app/node_modules/holdfast/docs"), /^I3: .*docs does/],
  [
    "has another version",
    { packages: { ...sound.packages, "node_modules/hono": { version: "4.2.0" } } },
    /^I3: .*tried as 4.1.0/,
  ],
  [
    "has what npm did not put there",
    added("/app/node_modules/left/package.json"),
    /^I3: .*left is undefined/,
  ],
  [
    "lacks a package",
    { files: sound.files.filter((path) => !path.includes("/pg/")) },
    /^I3: there is no .*pg$/,
  ],
])("an image that %s is found", (_, facts, problem) => {
  const problems = judgeImage({ ...sound, ...facts }, wanted);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(problem);
});

test("a package that is only for those who develop is found", () => {
  const packages = { ...sound.packages, "node_modules/vitest": { version: "5.0.0" } };
  const facts = { ...sound, ...added("/app/node_modules/vitest/package.json"), packages };
  expect(judgeImage(facts, wanted)).toEqual(["I3: node_modules/vitest is for those who develop"]);
});

const well: LifeFacts = {
  ...{ answers: { "/readyz": 200 }, healthcheck: 0, doctor: 0, output: { greeted: "image" } },
  ...{ idle: 0, busy: 0, isDrained: true },
};

test.each<[string, Partial<LifeFacts>, string]>([
  ["is not ready", { answers: { "/readyz": 503 } }, "I4: /readyz answers 503"],
  ["is not healthy", { healthcheck: 1 }, "I4: its own check of its health ends with 1"],
  ["is not well", { doctor: 1 }, "I4: the doctor in the same image ends with 1"],
  ["does something else", { output: null }, "I4: the run's output is null"],
  ["is killed when it is idle", { idle: 137 }, "I5: with nothing to do it ended with 137"],
  ["is killed at work", { busy: 137 }, "I5: in the middle of an activity it ended with 137"],
  [
    "leaves its work",
    { isDrained: false },
    "I5: it was gone before the activity that was under way had ended",
  ],
])("a worker that %s is found", (_, facts, problem) => {
  expect(judgeLife(well)).toEqual([]);
  expect(judgeLife({ ...well, ...facts })).toEqual([problem]);
});

test("every mistake that can be planted fits the Dockerfile", () => {
  const dockerfile = read("deploy/Dockerfile");
  for (const name of Object.keys(plants) as Plant[]) {
    expect(planted(dockerfile, name)).not.toBe(dockerfile);
  }
});
