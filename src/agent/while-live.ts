/** Runs that stand for something (a user's profile, a session) end and begin anew, while whoever asks means the thing. */
import { isHoldfastError } from "../errors.ts";

/** Does something with a run; if that ended meanwhile, with the one that takes its place. */
export async function whileLive<Live, Answer>(
  run: () => Promise<Live>,
  work: (run: Live) => Promise<Answer>,
): Promise<Answer> {
  try {
    return await work(await run());
  } catch (error) {
    if (!isHoldfastError(error) || error.code !== "RUN_ENDED") throw error;
    return work(await run());
  }
}
