import { useId } from 'react'
import { useTranslations } from 'use-intl/react'
import { ApiError } from '@berth/api/client.ts'
import { LogRegion } from '#/components/log-region.tsx'
import { factsOf } from '#/launch-words.ts'
import { blocksOf, plain } from '#/log-text.ts'

/** What is known of a launch that failed beside the sentence, which an `Alert` says: how its program ended, and what it wrote last. */
export function LaunchFailure({ error }: { error: unknown }) {
  const t = useTranslations('dashboard.failure')
  const label = useId()
  if (!(error instanceof ApiError)) return null
  const { last_lines: lines = [] } = error.body
  const { isOutOfMemory, exitCode } = factsOf(error.body)
  const facts = [isOutOfMemory && t('outOfMemory'), exitCode !== undefined && t('exitCode', { code: String(exitCode) })]
  const said = facts.filter((fact) => fact !== false).join(' ')
  return (
    <>
      {said !== '' && <p className="hint">{said}</p>}
      {lines.length > 0 && (
        <div className="last-lines">
          <p id={label} className="hint">
            {t('lines')}
          </p>
          <LogRegion labelledBy={label} blocks={blocksOf(lines.map(plain))} />
        </div>
      )}
    </>
  )
}
