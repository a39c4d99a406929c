import type { ReactNode } from 'react'
import { Link } from '#/components/link.tsx'

/** What stands for the tags of a message (`t.rich`). */
export const rich = {
  /** An address is what matters in its sentence, and may break anywhere. */
  address: (text: ReactNode) => <b className="address">{text}</b>,
  path: (text: ReactNode) => <span className="path">{text}</span>,
  link: (to: string, state?: unknown) => (text: ReactNode) => (
    <Link to={to} state={state}>
      {text}
    </Link>
  ),
  /** For a tag that has no words in it, only a place. */
  inPlace: (node: ReactNode) => () => node,
} as const
