import { useTranslations } from 'use-intl/react'
import type { ListedContainer } from '@berth/api/schemas/administration/admin.ts'
import type { Tone } from '#/containers/containers.ts'

const tones: Readonly<Record<ListedContainer['status'], Tone>> = {
  running: 'good',
  paused: 'idle',
  stopped: 'idle',
  missing: 'idle',
  failed: 'bad',
  unknown: 'idle',
}

/** The status of a container in a word; the dot repeats it. */
export function ContainerState({
  container: { id, status, is_blocked, home_problem: problem },
}: {
  container: ListedContainer
}) {
  const t = useTranslations('admin.containers')
  return (
    <span className="tags">
      {is_blocked && <span className="tag bad">{t('blocked')}</span>}
      {problem && (
        <span
          className="tag bad"
          title={t('homeProblem', { program: String(problem.program), owner: String(problem.owner), id: String(id) })}
        >
          {t('homeNotWritable')}
        </span>
      )}
      <span className={`state ${tones[status]}`}>
        <span className="dot" aria-hidden />
        {t(`statuses.${status}`)}
      </span>
    </span>
  )
}
