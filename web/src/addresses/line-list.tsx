interface LineListProps {
  /** What they are; it stands above them, where it is announced. */
  label: string
  /** As they are shown; a text may come twice. */
  lines: readonly string[]
}

/**
 * Lines of a list that cannot be used, all of them: a teacher who corrects a file has to find each. Nothing while there is none.
 * Not for a live region: a screen reader would read hundreds of them.
 */
export function LineList({ label, lines }: LineListProps) {
  if (lines.length === 0) return null
  return (
    <div
      className="note line-list"
      role="region"
      aria-label={label}
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrollable region must be reachable by keyboard (WCAG 2.2, 2.1.1)
      tabIndex={0}
    >
      <ul>
        {lines.map((line, at) => (
          <li key={at} className="address">
            {line}
          </li>
        ))}
      </ul>
    </div>
  )
}
