import { useId, type ReactNode } from 'react'

interface SectionProps {
  title: string
  about?: string
  children: ReactNode
}

/** A section of the page, with its heading and a description. */
export function Section({ title, about, children }: SectionProps) {
  const heading = useId()
  return (
    <section className="part" aria-labelledby={heading}>
      <h2 id={heading}>{title}</h2>
      {about !== undefined && <p className="hint">{about}</p>}
      {children}
    </section>
  )
}
