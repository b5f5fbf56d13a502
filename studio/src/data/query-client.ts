/** What was read is kept until news say that it changed; nothing is asked for by the clock. */
import { QueryClient, type QueryFilters } from "@tanstack/react-query";

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

/**
 * Reads again what is shown of these, since something has happened. What is on its way may have been read before that, so it
 * is let come and read once more; it is never aborted, or a run that moves on would keep a slow page from seeing anything.
 */
export async function lookAgain(filters: QueryFilters): Promise<void> {
  const isUnderWay = queryClient.isFetching(filters) > 0;
  await queryClient.invalidateQueries(filters, { cancelRefetch: false });
  if (isUnderWay) await queryClient.invalidateQueries(filters, { cancelRefetch: false });
}

/** The same of a run: how it stands now. */
export const lookAgainAt = (run: string): Promise<void> => lookAgain({ queryKey: ["run", run] });
