/** What a process of the proof ends with that the others put out: it is replaced, and nothing is wrong with it. */
export const putOutCode = 75;
