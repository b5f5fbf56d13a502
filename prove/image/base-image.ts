/**
 * A stand-in for the image that the Dockerfile is built on, for where no registry is: Debian's own packages of the same
 * release, the Node that npm brings, the npm that runs this, and the user `node`. It bears the name that FROM names.
 */
import { execFile, execFileSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { root } from "../../test/project.ts";
import type { Engine } from "./engine.ts";

const run = promisify(execFile);
const certificates = "/etc/ssl/certs/ca-certificates.crt";

/** Makes `name`, such as `node:24.21.0-bookworm-slim`, unless it is there; `folder` is to be free. */
export async function makeBase(engine: Engine, name: string, folder: string): Promise<void> {
  // What has no registry before it is taken for one of Docker's.
  const full = `docker.io/library/${name}`;
  if (await engine.has(full)) return;
  const [, release] = /^node:[\d.]+-(\w+)-slim$/.exec(name) ?? [];
  if (release === undefined) throw new Error(`Nobody knows how to make ${name} from Debian's packages`);
  try {
    await makeSystem(release, folder);
    await addNode(folder);
    const archive = `${folder}.tar`;
    await run("tar", ["-C", folder, "-cf", archive, "."]);
    await engine.ask("import", "--change", 'CMD ["node"]', "--change", `ENV PATH=${path}`, archive, full);
    rmSync(archive);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** Debian, as small as it can be, from where this machine has its packages. */
async function makeSystem(release: string, folder: string): Promise<void> {
  const sources = execFileSync("apt-get", ["indextargets", "--format", "$(CODENAME) $(REPO_URI)"], {
    encoding: "utf8",
  });
  const [, mirror] =
    sources
      .split("\n")
      .map((line) => line.split(" "))
      .find(([name]) => name === release) ?? [];
  const argv = ["--variant=minbase", "--include=ca-certificates", release, folder];
  await run("debootstrap", mirror === undefined ? argv : [...argv, mirror], { maxBuffer: 2 ** 26 });
  rmSync(join(folder, "var/cache/apt"), { recursive: true });
  rmSync(join(folder, "var/lib/apt/lists"), { recursive: true });
  // As images of Debian have it, and not as the folder was made.
  chmodSync(folder, 0o755);
}

/** Node and npm where the image has them, the user, and what this machine trusts and has its packages of npm from. */
async function addNode(folder: string): Promise<void> {
  const local = join(folder, "usr/local");
  // Its command is a link to bin/npm-cli.js.
  const { stdout: command } = await run("sh", ["-c", "command -v npm"]);
  const npm = join(realpathSync(command.trim()), "../..");
  const { stdout: registry } = await run("npm", ["config", "get", "registry"]);
  cpSync(join(root, "node_modules/node/bin/node"), join(local, "bin/node"));
  cpSync(npm, join(local, "lib/node_modules/npm"), { recursive: true });
  symlinkSync("../lib/node_modules/npm/bin/npm-cli.js", join(local, "bin/npm"));
  mkdirSync(join(local, "etc"), { recursive: true });
  writeFileSync(join(local, "etc/npmrc"), `cafile=${certificates}\nregistry=${registry}`);
  cpSync(certificates, join(folder, certificates));
  await run("chroot", [folder, "groupadd", "--gid", "1000", "node"]);
  await run("chroot", [folder, "useradd", "--uid", "1000", "--gid", "node", "--create-home", "node"]);
}
