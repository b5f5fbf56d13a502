/**
 * Dev mode: no keys, one token made at start, and only this machine. A page of somebody else, open in the same browser, must
 * not be able to use it: neither by a name that leads here (`Host` is checked), nor by asking from its own page (`Origin` and
 * `Sec-Fetch-Site` are).
 */
import { HoldfastError } from "../errors.ts";
import { bearerOf, cookieOf, isSame, type Principal } from "./identity.ts";

/** The name of the cookie. Browsers give a host's cookies to all of its ports, so that each server has a name of its own. */
export const devCookieOf = (url: string): string => `holdfast_dev_${new URL(url).port || "80"}`;
const hosts: ReadonlySet<string> = new Set(["127.0.0.1", "localhost", "[::1]"]);

/** What a server in dev mode lets in. */
export interface DevAccess {
  readonly token: string;
  /** Who it is that has the token; `dev` unless given. */
  readonly id?: string;
}

export interface DevRequest {
  readonly url: string;
  readonly headers: Pick<Headers, "get">;
}

/** Throws ORIGIN_REFUSED for a request that does not come from this machine by its own name, or from another page. */
export function checkDevRequest({ url, headers }: DevRequest): void {
  const { hostname, origin } = new URL(url);
  if (!hosts.has(hostname))
    throw refused(`the host ${JSON.stringify(hostname)}; use 127.0.0.1, localhost or [::1]`);
  const from = headers.get("origin");
  if (from !== null && from !== origin)
    throw refused(`the page ${JSON.stringify(from)}, which is not its own`);
  const site = headers.get("sec-fetch-site");
  if (site === "cross-site" || site === "same-site") throw refused("a page that is not its own");
}

/**
 * Throws as `checkDevRequest` does, but lets somebody follow a link from another page: what that page leads to is shown to
 * the person, in a window of its own, and that page reads nothing of it. Only for pages that say nothing of any run.
 */
export function checkDevPage({ url, headers }: DevRequest): void {
  const isLink = headers.get("sec-fetch-mode") === "navigate" && headers.get("sec-fetch-dest") === "document";
  const get = (name: string) => (isLink && name === "sec-fetch-site" ? null : headers.get(name));
  checkDevRequest({ url, headers: { get } });
}

const refused = (what: string): HoldfastError =>
  new HoldfastError("ORIGIN_REFUSED", `A server in dev mode does not answer ${what}`);

/** The principal of dev mode, if the request has the token: as a bearer, or in the cookie of the opened page. */
export function devPrincipal(
  { url, headers }: DevRequest,
  { token, id = "dev" }: DevAccess,
  tenant: string,
): Principal | undefined {
  const given = bearerOf(headers.get("authorization")) ?? cookieOf(headers.get("cookie"), devCookieOf(url));
  if (given === undefined || !isSame(given, token)) return undefined;
  return { id, tenant, role: "admin", via: "dev" };
}
