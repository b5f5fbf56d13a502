/** The files of a new project, as text. A test makes one and runs its tests. */
import { version } from "../version.ts";
import { machine, machineOne, machines, migration, test } from "./sources.ts";

export const stores = {
  sqlite: { about: "SQLite: a file, nothing to install", address: "agents.db", needs: {} },
  postgres: {
    about: "PostgreSQL: for several workers",
    address: "postgres://localhost/agents",
    needs: { pg: "^8.16.0" },
  },
} as const;
export type StoreChoice = keyof typeof stores;

/** By their paths. */
export function filesOf(name: string, store: StoreChoice): Readonly<Record<string, string>> {
  return {
    "package.json": `${JSON.stringify(manifest(name, store), undefined, 2)}\n`,
    "tsconfig.json": `${JSON.stringify(compiler, undefined, 2)}\n`,
    ".gitignore": "node_modules\n.holdfast\n*.db\n*.db-*\n",
    "README.md": readme(name, store),
    "machines.ts": machines,
    "src/expense.ts": machine,
    "src/expense-1.ts": machineOne,
    "src/migration.ts": migration,
    "src/expense.test.ts": test,
  };
}

const manifest = (name: string, store: StoreChoice) => ({
  name: packageName(name),
  version: "0.1.0",
  private: true,
  type: "module",
  engines: { node: ">=24.16" },
  scripts: {
    dev: "holdfast dev machines.ts",
    start: `holdfast start machines.ts --store ${stores[store].address}`,
    test: "node --test",
    types: "tsc --noEmit",
  },
  dependencies: { holdfast: `^${version}`, ...stores[store].needs, zod: "^4.0.0" },
  devDependencies: { "@types/node": "^24.0.0", typescript: "^7.0.0" },
});

/** What npm takes for a name: a folder may be called anything, and of some names nothing is left. */
function packageName(folder: string): string {
  const name = folder
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, "-")
    .replace(/^[._-]+|-+$/g, "");
  return name === "" || name === "node_modules" ? "my-agent" : name;
}

const compiler = {
  compilerOptions: {
    ...{ target: "es2024", module: "nodenext", types: ["node"], strict: true, noEmit: true },
    ...{ allowImportingTsExtensions: true, erasableSyntaxOnly: true, verbatimModuleSyntax: true },
    skipLibCheck: true,
  },
};

const readme = (name: string, store: StoreChoice): string => `# ${name}

| command | does |
|---|---|
| \`npm run dev\` | runs the machines here, with Studio in the browser; what you change is loaded anew |
| \`npm test\` | tests them in virtual time, with a crash at every point |
| \`npm start\` | runs them for others, on ${stores[store].address} |

\`src/expense.ts\` is the machine, \`src/expense-1.ts\` what it was before, \`src/migration.ts\` how runs get from one to the
other, and \`machines.ts\` brings them together with the code they call.

Try it: \`npx holdfast runs start expense --id e-1 --input '{"title":"Train","euros":80}'\`, then
\`npx holdfast inbox list\` and \`npx holdfast inbox approve e-1\`.
`;
