/**
 * What runs in the page while somebody scrubs: it counts frames and long tasks, remembers when the last movement was
 * made, and tells when all panes show where the handle is. Text, since it is no code of this process.
 */
export const watchScript = `
globalThis.watch = (expected) => {
  const frames = [], tasks = [];
  let isOver = false, before, movedAt = 0;
  const observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) tasks.push(duration);
  });
  observer.observe({ type: "longtask" });
  const note = ({ timeStamp }) => { movedAt = timeStamp; };
  const slider = document.querySelector(".scrubber input");
  slider.addEventListener("input", note);
  window.addEventListener("keydown", note, true);
  const frame = (now) => {
    if (before !== undefined) frames.push(now - before);
    before = now;
    if (!isOver) requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);

  // A row that is there but not read yet has dots where its event is.
  const isShown = () => {
    const seq = Number(slider.value);
    const row = document.querySelector('.step[data-seq="' + seq + '"] [aria-current="step"] .step-type');
    const box = document.querySelector('.box[data-state="walk.' + expected[(seq - 1) % expected.length] + '"]');
    const inspector = document.querySelector(".inspector-body")?.textContent ?? "";
    return row !== null && box?.dataset.lit === "true" && inspector.includes('"tick ' + (seq - 1) + '"');
  };
  const shown = () => new Promise((told) => {
    const look = () => {
      if (isShown()) setTimeout(() => told(performance.now() - movedAt));
      else if (performance.now() - movedAt > 10_000) told(Infinity);
      else requestAnimationFrame(look);
    };
    look();
  });
  return {
    /** Frames end with the movement: what comes after is waiting, not scrubbing. */
    end: async () => {
      isOver = true;
      const stopToShownMs = await shown();
      observer.disconnect();
      slider.removeEventListener("input", note);
      window.removeEventListener("keydown", note, true);
      return { frames, tasks, stopToShownMs, at: Number(slider.value) };
    },
  };
};`;

/** What one movement came to. */
export interface Watched {
  readonly frames: readonly number[];
  readonly tasks: readonly number[];
  readonly stopToShownMs: number;
  readonly at: number;
}
