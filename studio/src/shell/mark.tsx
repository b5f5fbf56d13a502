/** The mark: a holdfast on its rock. */
export function Mark() {
  return (
    <svg viewBox="0 0 32 32" width="28" height="28" aria-hidden="true" className="mark">
      <g className="mark-kelp">
        <path d="M16 3c-2.600 3 2.400 5.400 0 9.500" />
        <path d="M16 12.500C15 17 9.500 16.500 7 22.500" />
        <path d="M16 12.500C16.200 17 13 18.500 13 23.500" />
        <path d="M16 12.500C16.500 17 19.500 18 19.500 23.500" />
        <path d="M16 12.500C17.500 17 23 16.500 25.500 22" />
      </g>
      <path className="mark-rock" d="M3 26.500c4.500-3 8-.6 13-.9s8.500-2.100 13 .7" />
    </svg>
  );
}
