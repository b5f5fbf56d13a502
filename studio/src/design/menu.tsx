/** A button that opens a short list of things to do. */
import { type ReactNode, useEffect, useRef, useState } from "react";
import "./menu.css";

interface MenuProps {
  readonly label: string;
  readonly button: ReactNode;
  readonly choices: readonly { readonly name: string; readonly does: () => void }[];
}

export function Menu({ label, button, choices }: MenuProps) {
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!isOpen) return;
    const close = (event: Event) => {
      const isKey = event instanceof KeyboardEvent;
      if (isKey ? event.key === "Escape" : !box.current?.contains(event.target as Node)) setOpen(false);
    };
    window.addEventListener("mousedown", close);
    window.addEventListener("keydown", close);
    return () => {
      window.removeEventListener("mousedown", close);
      window.removeEventListener("keydown", close);
    };
  }, [isOpen]);
  return (
    <div className="menu" ref={box}>
      <button
        type="button"
        className="button"
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-label={label}
        onClick={() => setOpen(!isOpen)}
      >
        {button}
      </button>
      {isOpen ? (
        <div className="menu-list" role="menu" aria-label={label}>
          {choices.map(({ name, does }) => (
            <button
              key={name}
              type="button"
              role="menuitem"
              onClick={() => {
                setOpen(false);
                does();
              }}
            >
              {name}
            </button>
          ))}
        </div>
      ) : null}
    </div>
  );
}
