/** The proof: request after request is drawn, made and judged; the first that breaks a rule is told of with what repeats it. */
import { isAllowed } from "../../src/security/policy.ts";
import { createRandom } from "../../test/generate/random.ts";
import { type Api, type Operation, readApi } from "./document.ts";
import { Drawing, type Drawn } from "./draw.ts";
import { canary, plants } from "./plants.ts";
import { type ApiWorld, type Holder, openApiWorld } from "./world.ts";

export interface ProofOptions {
  readonly seed: number;
  readonly requests: number;
  readonly plant?: string;
  readonly print: (line: string) => void;
  readonly progress?: (done: number) => void;
}

/** How often everything in the store is summed up around a request. */
const summedEvery = 250;

/** True if every request was answered as it must be; with a weakness planted, if that was found. */
export async function proveApi(options: ProofOptions): Promise<boolean> {
  const { seed, print } = options;
  const plant = plants.find(({ name }) => name === options.plant);
  if (options.plant !== undefined && plant === undefined)
    throw new Error(`There is no ${options.plant}; there are ${plants.map(({ name }) => name).join(", ")}`);
  print(`prove:api seed ${seed}`);
  const world = await openApiWorld(plant);
  try {
    const { problem, statuses, operations } = await attack(world, options);
    if (problem !== undefined) print(problem);
    const told = [...statuses]
      .sort()
      .map(([status, count]) => `${count} × ${status}`)
      .join(", ");
    const passed = (problem === undefined) === (plant === undefined);
    print(
      `prove:api ${passed ? "passed" : "failed"}: ${told}; ${operations.size} routes answered well${plant === undefined ? "" : `; ${plant.name} was ${passed ? "found" : "not found"}`}`,
    );
    return passed;
  } finally {
    await world.close();
  }
}

interface Attacked {
  readonly problem: string | undefined;
  readonly statuses: ReadonlyMap<number, number>;
  /** Routes that gave a good answer at least once. */
  readonly operations: ReadonlySet<string>;
}

async function attack(world: ApiWorld, { seed, requests, progress }: ProofOptions): Promise<Attacked> {
  const api: Api = readApi();
  const statuses = new Map<number, number>();
  const operations = new Set<string>();
  for (let index = 0; index < requests; index++) {
    const random = createRandom(seed * 1_000_003 + index);
    const drawn = new Drawing(random, api, world.names).draw();
    const holder = random.chance(0.55) ? (world.holders[3] as Holder) : random.pick(world.holders);
    const summed = index % summedEvery === 0 ? await world.digest() : undefined;
    const changesBefore = world.changes();
    const answer = await make(world, drawn, holder);
    const problems = await judge(world, { drawn, holder, answer, changed: world.changes() > changesBefore });
    if (
      summed !== undefined &&
      isRefusal(answer.status) &&
      !isLeft(drawn, answer) &&
      summed !== (await world.digest())
    )
      problems.push("what is stored is not what it was, though the request was refused");
    if (problems.length > 0)
      return { problem: tell(seed, index, drawn, problems, answer), statuses, operations };
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    if (answer.status < 300) operations.add(drawn.operation.name);
    if (world.changes() > changesBefore) await settled(world);
    if (index % 100 === 0) progress?.(index);
  }
  return { problem: undefined, statuses, operations };
}

/** What a change leads to by itself must not be taken for the next request's doing. */
async function settled({ changes }: ApiWorld): Promise<void> {
  for (let before = -1; before !== changes(); ) {
    before = changes();
    await new Promise((rest) => setTimeout(rest, 4));
  }
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly headers: string;
  readonly text: string;
}

async function make(
  world: ApiWorld,
  { url, method, headers, body }: Drawn,
  { key }: Holder,
): Promise<Answer> {
  const sent = new Headers();
  for (const [name, value] of Object.entries({
    ...headers,
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
  }))
    sent.set(name, value);
  const request = new Request(url, {
    method,
    headers: sent,
    ...(body === undefined || method === "GET" ? {} : { body }),
  });
  const response = await world.fetch(request);
  const type = response.headers.get("content-type")?.split(";")[0] ?? "";
  return {
    ...{ status: response.status, type, headers: JSON.stringify([...response.headers]) },
    text: type === "text/event-stream" ? await firstOf(response) : await response.text(),
  };
}

/** What a stream says at once; one that says nothing is left after a moment. */
async function firstOf(response: Response): Promise<string> {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const nothing = new Promise<{ value?: Uint8Array }>((late) => setTimeout(() => late({}), 5));
  const { value } = await Promise.race([reader.read(), nothing]);
  await reader.cancel();
  return value === undefined ? "" : Buffer.from(value).toString();
}

interface Case {
  readonly drawn: Drawn;
  readonly holder: Holder;
  readonly answer: Answer;
  readonly changed: boolean;
}

async function judge(world: ApiWorld, { drawn, holder, answer, changed }: Case): Promise<string[]> {
  const { operation } = drawn;
  const { status, text, headers } = answer;
  const problems: string[] = [];
  const isOwnRoute = drawn.method === operation.method;
  if (status >= 500) problems.push(`the server made a mistake: ${String(world.mistakes.at(-1))}`);
  if (isOwnRoute) problems.push(...schemaProblems(operation, answer));
  if (isOwnRoute && status < 300 && !isAllowed(holder.role, operation.permission, { isOwn: true }))
    problems.push(
      `a ${holder.role ?? "holder of no good key"} may not ${operation.permission}, and was answered`,
    );
  if (isRefusal(status) && changed && !isLeft(drawn, answer))
    problems.push("it was refused, and changed something");
  const asked = `${drawn.url}${drawn.body ?? ""}`;
  const isTold = (what: string) => `${text}${headers}`.includes(what) && !asked.includes(what);
  if (isTold(canary) || isTold("-theirs")) problems.push("it tells of the other tenant");
  if (
    /\bat .*\(?(file:\/\/|node:|\/[\w.-]+\/[\w./-]+\.(ts|js|mjs):\d+)/.test(text) ||
    /node_modules/.test(text)
  )
    problems.push("it tells of the server's inside");
  if (({} as { polluted?: unknown }).polluted !== undefined) problems.push("it changed a prototype");
  return problems;
}

const isRefusal = (status: number): boolean => status >= 400;

/** What a refused request may leave behind, each with its reason. */
const leaving: Readonly<Record<string, { readonly when: RegExp; readonly reason: string }>> = {
  "runs.ask": {
    when: /"code":"(ASK_UNANSWERED|EVENT_\w+|RUN_ENDED)"/,
    reason: "the event was sent and stands in the journal; its reply did not come",
  },
  "runs.say": {
    when: /"code":"(AGENT_BUSY|CONTRACT_VIOLATED|EVENT_\w+|RUN_ENDED)"/,
    reason: "the event was sent and stands in the journal; the agent did not take it",
  },
  "runs.start": {
    when: /"code":"(LIMIT|INPUT|CONTEXT)_INVALID"/,
    reason: "the place of a singleton is kept before its run is tried; it is nobody's until one begins",
  },
};

function isLeft({ operation, body = "" }: Drawn, { text }: Answer): boolean {
  const known = leaving[operation.name];
  if (known === undefined || (operation.name === "runs.start" && !body.includes('"singleton"'))) return false;
  return known.when.test(text);
}

function schemaProblems({ name, responses }: Operation, { status, type, text }: Answer): string[] {
  if (type === "text/event-stream") return [];
  const byType = responses.get(String(status)) ?? responses.get("default");
  const check = byType?.get(type);
  if (check === undefined) return [`${name} answers ${status} as ${type}, which its contract does not say`];
  const value: unknown = type === "text/plain" ? text : JSON.parse(text);
  if (!check(value)) return [`the answer breaks its schema: ${JSON.stringify(check.errors?.[0])}`];
  const told = (value as { status?: unknown }).status;
  return type === "application/problem+json" && told !== status
    ? [`the problem says ${told}, the answer ${status}`]
    : [];
}

function tell(
  seed: number,
  index: number,
  drawn: Drawn,
  problems: readonly string[],
  answer: Answer,
): string {
  const { method, url, headers, body } = drawn;
  return [
    `request ${index}: ${problems.join("; ")}`,
    `  ${method} ${url.slice(0, 300)} ${JSON.stringify(headers)} ${body?.slice(0, 500) ?? ""}`,
    `  ${answer.status} ${answer.type} ${answer.text.slice(0, 500)}`,
    `  Repeat it with --seed ${seed} --requests ${index + 1}`,
  ].join("\n");
}
