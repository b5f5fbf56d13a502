/** Mistakes in the Dockerfile, each of which the proof has to see. */

const entrypoint = 'ENTRYPOINT ["node", "node_modules/holdfast/dist/cli/main.js"]';

/** What is looked for in the Dockerfile, and what is there instead. */
export const plants = {
  /** It runs as root. I1. */
  root: ["USER 1000:1000\n", ""],
  /** Whoever breaks in can change the program. I2. */
  writable: ["COPY --from=install /app", "COPY --chown=1000:1000 --from=install /app"],
  /** The sources are in it. I3. */
  sources: ["COPY deploy/machines", "COPY src ./src\nCOPY deploy/machines"],
  /** A shell is told to stop, and does not pass it on. I5. */
  deaf: [
    entrypoint,
    'ENTRYPOINT ["sh", "-c", "node node_modules/holdfast/dist/cli/main.js \\"$@\\"; exit $?", "sh"]',
  ],
} as const satisfies Record<string, readonly [string, string]>;

export type Plant = keyof typeof plants;

/** The Dockerfile with a mistake in it. */
export function planted(dockerfile: string, plant: Plant | undefined): string {
  if (plant === undefined) return dockerfile;
  const [from, to] = plants[plant];
  if (!dockerfile.includes(from))
    throw new Error(`There is no “${from}” in the Dockerfile to plant ${plant} at`);
  return dockerfile.replace(from, () => to);
}
