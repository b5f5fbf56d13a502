/** A dialog: the browser's own, so that focus, Escape and what lies behind it are right without any code of ours. */
import { type ReactNode, useEffect, useRef } from "react";
import { Icon } from "./icon.tsx";
import "./dialog.css";

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
  /** Buttons, at its foot. */
  readonly foot?: ReactNode;
  readonly wide?: boolean;
}

export function Dialog({ title, onClose, children, foot, wide = false }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog
      ref={dialog}
      className="dialog"
      data-wide={wide}
      aria-label={title}
      onClose={onClose}
      onMouseDown={(event) => event.target === dialog.current && onClose()}
    >
      <div className="dialog-inside">
        <header className="dialog-head">
          <h1>{title}</h1>
          <button type="button" className="button" data-look="plain" onClick={onClose} aria-label="Close">
            <Icon name="cross" />
          </button>
        </header>
        <div className="dialog-body">{children}</div>
        {foot === undefined ? null : <footer className="dialog-foot">{foot}</footer>}
      </div>
    </dialog>
  );
}
