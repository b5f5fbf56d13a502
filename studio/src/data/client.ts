/** The client of the server that this page came from. The page's cookie, or a key that was given, says who asks. */
import { createClient } from "holdfast/client";
import { tellConnection } from "./connection.ts";

const place = "holdfast.key";

/** Looks at how requests fare, so that the page can say when nobody answers. */
async function watchedFetch(request: Request): Promise<Response> {
  try {
    const response = await fetch(request);
    tellConnection(response.status === 401 ? "refused" : "live");
    return response;
  } catch (error) {
    if (!request.signal.aborted) tellConnection("lost");
    throw error;
  }
}

const key = sessionStorage.getItem(place);
export const client = createClient({
  url: location.origin,
  fetch: watchedFetch,
  ...(key === null ? {} : { key }),
});

/** Uses a key from now on, for as long as this tab is open. */
export function signIn(given: string): void {
  sessionStorage.setItem(place, given);
  location.reload();
}
