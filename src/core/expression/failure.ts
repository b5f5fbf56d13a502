/** How expressions fail: while they are read (invalid), and while they are evaluated (failed). */
import { HoldfastError } from "../../errors.ts";

/** The expression is none, or ill-typed; `why` goes on after "the expression". */
export function invalid(why: string): never {
  throw new HoldfastError("EXPRESSION_INVALID", why);
}

/** The expression has no value for what it was given. */
export function failed(why: string): never {
  throw new HoldfastError("EXPRESSION_FAILED", why);
}
