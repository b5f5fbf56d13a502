/** Opening a page in the person's browser, where there is one; whoever has none has the address. */
import { spawn } from "node:child_process";

const openers: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ["open"],
  win32: ["explorer.exe"],
};

export function openBrowser(url: string): void {
  const [command, ...args] = openers[process.platform] ?? ["xdg-open"];
  const child = spawn(command, [...args, url], { stdio: "ignore", detached: true });
  child.on("error", () => {});
  child.unref();
}
