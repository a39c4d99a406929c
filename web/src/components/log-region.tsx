import { useLayoutEffect, useRef } from 'react'

interface LogRegionProps {
  /** What names it, by id. */
  labelledBy: string
  lines: readonly string[]
}

/** How near its end a reader has to be to be taken along, in pixels. */
const nearEnd = 24

/** What an app wrote, in a region that scrolls, can be reached by keyboard, and stays at its end unless one has scrolled up. */
export function LogRegion({ labelledBy, lines }: LogRegionProps) {
  const region = useRef<HTMLPreElement>(null)
  const isAtEnd = useRef(true)

  useLayoutEffect(() => {
    if (region.current && isAtEnd.current) region.current.scrollTop = region.current.scrollHeight
  }, [lines])

  function noteScroll() {
    const { scrollHeight = 0, scrollTop = 0, clientHeight = 0 } = region.current ?? {}
    isAtEnd.current = scrollHeight - scrollTop - clientHeight < nearEnd
  }

  return (
    <pre
      ref={region}
      className="lines"
      role="region"
      aria-labelledby={labelledBy}
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reached by keyboard (WCAG 2.2, 2.1.1)
      tabIndex={0}
      translate="no"
      onScroll={noteScroll}
    >
      {lines.join('\n')}
    </pre>
  )
}
