import { memo, useLayoutEffect, useRef, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { Button } from '#/components/button.tsx'
import type { Block } from './log-lines.ts'

interface LogRegionProps {
  /** Id of the element that names it. */
  labelledBy: string
  blocks: readonly Block[]
  /** Wraps long lines; otherwise the region scrolls sideways. */
  isWrapped?: boolean
  /** Called when the region starts or stops following its end. */
  onFollow?(isFollowing: boolean): void
}

/** Distance from the end, in pixels, within which the region follows new lines. */
const nearEnd = 24

/**
 * The output of an app in a scrollable region that is reachable by keyboard. It follows new lines unless the user has
 * scrolled up; then a button leads back to the end.
 */
export function LogRegion({ labelledBy, blocks, isWrapped = true, onFollow }: LogRegionProps) {
  const t = useTranslations('dashboard')
  const region = useRef<HTMLPreElement>(null)
  const [isAtEnd, setAtEnd] = useState(true)

  useLayoutEffect(() => {
    if (region.current && isAtEnd) region.current.scrollTop = region.current.scrollHeight
  }, [blocks, isAtEnd, isWrapped])

  function noteScroll() {
    const { scrollHeight = 0, scrollTop = 0, clientHeight = 0 } = region.current ?? {}
    follow(scrollHeight - scrollTop - clientHeight < nearEnd)
  }

  function follow(isFollowing: boolean) {
    if (isFollowing === isAtEnd) return
    setAtEnd(isFollowing)
    onFollow?.(isFollowing)
  }

  // The button goes away, so the focus moves first.
  function jump() {
    region.current?.focus()
    follow(true)
  }

  return (
    <div className="log">
      <pre
        ref={region}
        className={isWrapped ? 'lines' : 'lines unwrapped'}
        role="region"
        aria-labelledby={labelledBy}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrollable region needs a tab stop
        tabIndex={0}
        translate="no"
        onScroll={noteScroll}
      >
        {blocks.map((block, index) => (
          <Lines key={block.at} block={block} isLast={index === blocks.length - 1} />
        ))}
      </pre>
      {!isAtEnd && onFollow && (
        <Button variant="small" onPress={jump}>
          {t('newestLine')}
        </Button>
      )}
    </div>
  )
}

/** Renders again only when its lines change: of thousands, that is the last block. */
const Lines = memo(function Lines({ block: { lines }, isLast }: { block: Block; isLast: boolean }) {
  return <span className="block">{isLast ? lines.join('\n') : `${lines.join('\n')}\n`}</span>
})
