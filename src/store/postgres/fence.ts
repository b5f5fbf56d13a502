/**
 * The fence: whether who writes may still. The table of leases has one row for the whole store (1), which also counts
 * epochs, and one for each member of those who share it (2). Whoever writes holds the row of its epoch FOR KEY SHARE, which
 * keeps it from being taken away and lets it be renewed.
 */

/** What a query selects to find an epoch good. */
export const goodEpoch = (schema: string, epoch: string): string => `1 FROM ${schema}.lease
    WHERE id IN (1, 2) AND owner IS NOT NULL AND epoch = ${epoch} FOR KEY SHARE`;
