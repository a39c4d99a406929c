import { memo, useLayoutEffect, useRef, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { Button } from '#/components/button.tsx'
import type { Block } from '#/containers/log-lines.ts'

interface LogRegionProps {
  /** What names it, by id. */
  labelledBy: string
  blocks: readonly Block[]
  /** Long lines go on in the next row; otherwise the region scrolls sideways. */
  isWrapped?: boolean
  /** Told whether it stays at its end while lines come. */
  onFollow?(isFollowing: boolean): void
}

/** How near its end a reader has to be to be taken along, in pixels. */
const nearEnd = 24

/**
 * What an app wrote, in a region that scrolls, can be reached by keyboard, and stays at its end unless one has scrolled up;
 * then a button leads back to it.
 */
export function LogRegion({ labelledBy, blocks, isWrapped = true, onFollow }: LogRegionProps) {
  const t = useTranslations('dashboard.logs')
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

  // The button goes away, so the focus must leave it first.
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
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reached by keyboard (WCAG 2.2, 2.1.1)
        tabIndex={0}
        translate="no"
        onScroll={noteScroll}
      >
        {blocks.map((block, index) => (
          <Lines key={block.at} block={block} isLast={index === blocks.length - 1} />
        ))}
      </pre>
      {!isAtEnd && onFollow && (
        <Button look="small" onPress={jump}>
          {t('newest')}
        </Button>
      )}
    </div>
  )
}

/** Written anew only when lines came to it: of thousands, that is the last block. */
const Lines = memo(function Lines({ block: { lines }, isLast }: { block: Block; isLast: boolean }) {
  return <span className="block">{isLast ? lines.join('\n') : `${lines.join('\n')}\n`}</span>
})
