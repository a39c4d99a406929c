import { useId } from 'react'
import { ApiError } from '@berth/api/client.ts'
import { LogRegion } from '#/components/log-region.tsx'
import { factsOf } from '#/launch-words.ts'
import { plain } from '#/log-text.ts'

const words = {
  lines: 'What it wrote last',
}

/** What is known of a launch that failed beside the sentence, which an `Alert` says: how its program ended, and what it wrote last. */
export function LaunchFailure({ error }: { error: unknown }) {
  const label = useId()
  if (!(error instanceof ApiError)) return null
  const { last_lines: lines = [] } = error.body
  const facts = factsOf(error.body)
  return (
    <>
      {facts !== '' && <p className="hint">{facts}</p>}
      {lines.length > 0 && (
        <div className="last-lines">
          <p id={label} className="hint">
            {words.lines}
          </p>
          <LogRegion labelledBy={label} lines={lines.map(plain)} />
        </div>
      )}
    </>
  )
}
