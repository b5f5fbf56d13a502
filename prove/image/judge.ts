/**
 * What an image and a worker in it have to be, judged from what was found.
 *
 * I1. It is no root's, and on a Node that the project takes. I2. Whoever runs in it can write nothing but what everybody may
 * write anywhere. I3. It has what runs and nothing else: no sources, no tools, no package that is not wanted, each at the
 * version of the lock file, and no address of a store. I4. A worker in it comes up without rights, says how it is, and takes
 * runs. I5. Told to stop, it lets what is under way end, and ends with 0.
 */

/** What is in an image. */
export interface ImageFacts {
  /** As `USER` has it. */
  readonly user: string;
  readonly environment: readonly string[];
  /** Of the Node in it, without the `v`. */
  readonly node: string;
  /** What its user can write in it, beside their home. */
  readonly writable: readonly string[];
  /** All paths that the image it is built on does not have, or has otherwise. */
  readonly files: readonly string[];
  /** What npm says it has put there: versions of packages, by where they are. */
  readonly packages: Packages;
}

/** Packages as a lock file has them: by where they are. */
export type Packages = Readonly<Record<string, Package>>;

export interface Package {
  readonly version: string;
  /** Only for those who develop. */
  readonly dev?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** What the project says that has to be so. */
export interface Wanted {
  /** The least Node, such as `24.16`. */
  readonly nodeMin: string;
  readonly locked: Packages;
  /** Packages that are asked for beside the project itself, which only develops with them. */
  readonly added: readonly string[];
  /** What the project's own package may have, at its top. */
  readonly published: readonly string[];
}

/** What a worker in a container did. */
export interface LifeFacts {
  /** Status codes by path. */
  readonly answers: Readonly<Record<string, number>>;
  readonly healthcheck: number | string;
  readonly doctor: number | string;
  /** The output of the run that it was given. */
  readonly output: unknown;
  /** The code that one ended with that had nothing to do when it was told to stop. */
  readonly idle: number | string;
  /** The code of one that was in the middle of an activity, and whether it let that end. */
  readonly busy: number | string;
  readonly isDrained: boolean;
}

/** Where everybody may write on any Debian. */
const everybodys = ["/tmp", "/var/tmp", "/run/lock"];

export function judgeImage(facts: ImageFacts, wanted: Wanted): string[] {
  return [...judgeUser(facts, wanted), ...judgeContent(facts, wanted)];
}

function judgeUser({ user, node, writable }: ImageFacts, { nodeMin }: Wanted): string[] {
  const [id = ""] = user.split(":");
  const isOlder = node.localeCompare(nodeMin, "en", { numeric: true }) < 0;
  return [
    ...(/^[1-9]\d*$/.test(id) ? [] : [`I1: it runs as “${user}”, which Kubernetes cannot tell from root`]),
    ...(isOlder ? [`I1: it has Node ${node}, and the project wants ${nodeMin}`] : []),
    ...writable
      .filter((path) => !everybodys.some((folder) => path === folder || path.startsWith(`${folder}/`)))
      .map((path) => `I2: ${path} can be written`),
  ];
}

function judgeContent({ environment, files, packages }: ImageFacts, wanted: Wanted): string[] {
  const { locked, added, published } = wanted;
  const own = "/app/node_modules/holdfast/";
  const tops = ["package.json", ...published].map((name) => own + name);
  const belongs = (path: string) =>
    [...tops, "/app/machines"].some((top) => path === top || path.startsWith(`${top}/`)) ||
    ["/app", "/app/node_modules", own.slice(0, -1)].includes(path);
  const isSource = (path: string) => /(?<!\.d)\.ts$|\.test\./.test(path);
  const isOthers = (path: string) => path.startsWith("/app/node_modules/") && !`${path}/`.startsWith(own);
  const places = files.flatMap((path) => placeOfPackage.exec(path)?.[1] ?? []);
  return [
    ...environment
      .filter((variable) => variable.startsWith("HOLDFAST_"))
      .map((variable) => `I3: it has a setting of somebody's: ${variable.split("=")[0]}`),
    ...files
      .filter((path) => !isOthers(path) && (!belongs(path) || isSource(path)))
      .map((path) => `I3: ${path} does not belong`),
    ...judgePackages({ places, packages, locked, added }),
  ];
}

/** Where a package is, from the path of its manifest; not of one that only marks a folder inside a package. */
const placeOfPackage = /^\/app\/((?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/@]+)\/package\.json$/;
const project = "node_modules/holdfast";

function judgePackages(
  given: Pick<ImageFacts, "packages"> &
    Pick<Wanted, "locked" | "added"> & {
      /** Where there are packages in truth. */
      readonly places: readonly string[];
    },
): string[] {
  const { places, packages, locked, added } = given;
  const needed = withDependencies(added, locked);
  const wrong = places
    .filter((place) => place !== project)
    .flatMap((place) => {
      const [has, tried] = [packages[place]?.version, locked[place]];
      if (has === undefined || has !== tried?.version)
        return [`I3: ${place} is ${has}, and was tried as ${tried?.version}`];
      return tried.dev && !needed.has(place) ? [`I3: ${place} is for those who develop`] : [];
    });
  const missing = [project, ...added].filter((place) => !places.includes(place));
  return [...wrong, ...missing.map((place) => `I3: there is no ${place}`)];
}

/** Packages with all that they depend on, where nothing is in more than one version. */
function withDependencies(places: readonly string[], locked: Packages): ReadonlySet<string> {
  const all = new Set(places);
  // A set is gone through with what is added meanwhile.
  for (const place of all) {
    const { dependencies, optionalDependencies } = locked[place] ?? {};
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies }))
      all.add(`node_modules/${name}`);
  }
  return all;
}

export function judgeLife(facts: LifeFacts): string[] {
  const { answers, healthcheck, doctor, output, idle, busy, isDrained } = facts;
  return [
    ...Object.entries(answers)
      .filter(([, status]) => status !== 200)
      .map(([path, status]) => `I4: ${path} answers ${status}`),
    ...(healthcheck === 0 ? [] : [`I4: its own check of its health ends with ${healthcheck}`]),
    ...(doctor === 0 ? [] : [`I4: the doctor in the same image ends with ${doctor}`]),
    ...(JSON.stringify(output) === JSON.stringify({ greeted: "image" })
      ? []
      : [`I4: the run's output is ${JSON.stringify(output)}`]),
    ...(idle === 0 ? [] : [`I5: with nothing to do it ended with ${idle}`]),
    ...(busy === 0 ? [] : [`I5: in the middle of an activity it ended with ${busy}`]),
    ...(isDrained ? [] : ["I5: it was gone before the activity that was under way had ended"]),
  ];
}
