/**
 * Functions that every process needs are compiled as their file is read. V8 only skims a function when it reads a file, and reads
 * it again when it is first called: between opening a store and its first durable step a process calls some hundreds for the
 * first time. A function in parentheses is compiled at once, so the second reading falls away.
 *
 * Which functions these are is observed: what was built takes the first steps of a run, and V8 tells what it called.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseSync, Visitor } from "oxc-parser";

/** Where the functions begin that were called, by file. */
type Called = ReadonlyMap<string, ReadonlySet<number>>;

/** Rewrites the files of a built folder. What they do and export stays as it is. */
export function compileEagerly(folder: string): void {
  for (const [path, starts] of watchFirstSteps(folder))
    writeFileSync(path, parenthesize(readFileSync(path, "utf8"), starts));
}

/** The part of what V8 writes down with `NODE_V8_COVERAGE` that is read. */
interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly ranges: readonly { readonly startOffset: number; readonly count: number }[];
    }[];
  }[];
}

function watchFirstSteps(folder: string): Called {
  const notes = mkdtempSync(join(tmpdir(), "holdfast-called-"));
  execFileSync(process.execPath, [join(import.meta.dirname, "first-steps.ts"), folder], {
    // What comes out of a compile cache is not told.
    env: { ...process.env, NODE_V8_COVERAGE: notes, NODE_DISABLE_COMPILE_CACHE: "1" },
  });
  const { result } = JSON.parse(readFileSync(join(notes, readdirSync(notes)[0]!), "utf8")) as Coverage;
  rmSync(notes, { recursive: true });
  const built = pathToFileURL(`${folder}/`).href;
  return new Map(
    result
      .filter(({ url }) => url.startsWith(built))
      .map(({ url, functions }) => {
        const wholes = functions.map(({ ranges: [whole] }) => whole!);
        return [
          fileURLToPath(url),
          new Set(wholes.filter(({ count }) => count > 0).map(({ startOffset }) => startOffset)),
        ];
      }),
  );
}

/** A stretch of a text. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Puts the functions that begin at one of the places into parentheses. A declaration becomes a constant, and moves up behind the
 * imports, since it may be used above itself. Methods cannot be helped.
 */
export function parenthesize(text: string, starts: ReadonlySet<number>): string {
  const { program } = parseSync("built.js", text);
  const isCalled = ({ start }: Span) => starts.has(start);
  const expressions = new Set<Span>();
  const methods = new Set<Span>();
  const take = (span: Span) => void (isCalled(span) && !methods.has(span) && expressions.add(span));
  new Visitor({
    MethodDefinition: ({ value }) => void methods.add(value),
    Property: ({ value, method, kind }) => void ((method || kind !== "init") && methods.add(value)),
    ArrowFunctionExpression: take,
    FunctionExpression: take,
  }).visit(program);
  const marks = [...expressions]
    .flatMap(({ start, end }) => [
      { at: start, mark: "(" },
      { at: end, mark: ")" },
    ])
    .toSorted((one, other) => one.at - other.at);
  const write = ({ start, end }: Span): string => {
    let written = "";
    let from = start;
    for (const { at, mark } of marks) {
      if (at < start || at > end) continue;
      written += text.slice(from, at) + mark;
      from = at;
    }
    return written + text.slice(from, end);
  };

  const declarations = program.body
    .flatMap((node) => (node.type === "FunctionDeclaration" ? [node] : []))
    .filter(isCalled);
  const imports = program.body.filter((node) => node.type === "ImportDeclaration");
  const top = imports.at(-1)?.end ?? 0;
  const constants = declarations.map((node) => `const ${node.id!.name} = (${write(node)});\n`);
  const ends = [...declarations.map(({ start }) => start), text.length];
  const between = [top, ...declarations.map(({ end }) => end)].map((start, index) =>
    write({ start, end: ends[index]! }),
  );
  return `${text.slice(0, top)}\n${constants.join("")}${between.join("")}`;
}
