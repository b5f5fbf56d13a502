/**
 * Where the page is in a run: at a checkpoint, or at the newest one if there is none. It moves at once; the link says so
 * once it rests, since browsers refuse links that change all the time. A link that others change moves the page.
 */
import { useNavigate, useSearch } from "@tanstack/react-router";
import { startTransition, useCallback, useEffect, useRef, useState } from "react";

export type Place = number | undefined;

const restMs = 150;

export function usePlace(): readonly [place: Place, move: (to: Place) => void] {
  const linked: Place = useSearch({ from: "/runs/$run" }).at;
  const navigate = useNavigate({ from: "/runs/$run" });
  const [place, setPlace] = useState(linked);
  const written = useRef(linked);
  useEffect(() => {
    if (linked === written.current) return;
    written.current = linked;
    setPlace(linked);
  }, [linked]);
  useEffect(() => {
    if (place === written.current) return undefined;
    const rest = window.setTimeout(() => {
      written.current = place;
      void navigate({
        search: ({ at: _, ...others }) => (place === undefined ? others : { ...others, at: place }),
        replace: true,
      });
    }, restMs);
    return () => window.clearTimeout(rest);
  }, [place, navigate]);
  // Drawing the panes gives way to whoever still moves.
  const move = useCallback((to: Place) => startTransition(() => setPlace(to)), []);
  return [place, move];
}
