/** What was read is kept until news say that it changed; nothing is asked for by the clock. */
import { QueryClient } from "@tanstack/react-query";

/** Errors that waiting may mend; all others are shown at once. */
const mayRecover = (error: unknown): boolean => (error as { readonly retry?: string }).retry === "later";

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      refetchOnWindowFocus: false,
      retry: (count, error) => mayRecover(error) && count < 20,
      retryDelay: (count) => Math.min(400 * 2 ** count, 3_000),
    },
  },
});
