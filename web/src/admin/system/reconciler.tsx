import type { SystemReport } from '@berth/api/schemas/administration/admin.ts'
import { useTranslations } from 'use-intl/react'
import { Figure, Figures } from '#/admin/figure.tsx'
import { useAgo, useInstants } from '#/admin/use-instants.ts'
import { useQuantities } from '#/admin/quantities.ts'
import { Section } from './section.tsx'

const kinds = ['adopt', 'stop', 'remove', 'forget', 'restore', 'retire', 'note'] as const

/** The reconciler's completed and failed actions. */
export function Reconciler({ report }: { report: SystemReport['reconciler'] }) {
  const t = useTranslations('admin.system.reconciler')
  const { full } = useInstants()
  const ago = useAgo()
  const { duration } = useQuantities()
  const { last_run, last_success, duration_ms, is_engine_answering, failures } = report
  const when = (at: string | null) => (at === null ? t('never') : ago(at))
  return (
    <Section title={t('title')} about={t('about')}>
      <Figures>
        <Figure
          label={t('lastRun')}
          value={when(last_run)}
          meaning={duration_ms === null ? undefined : t('took', { duration: duration(duration_ms / 1_000) })}
        />
        <Figure
          label={t('lastSuccess')}
          value={when(last_success)}
          meaning={last_success === null ? undefined : full(last_success)}
        />
        <Figure
          label={t('engine')}
          value={last_run === null ? undefined : t(is_engine_answering ? 'answers' : 'noAnswer')}
        />
      </Figures>
      <h3>{t('left')}</h3>
      {failures.length === 0 ? (
        <p className="hint">{t('nothingLeft')}</p>
      ) : (
        <ul className="plain-list">
          {failures.map((failure) => (
            <li key={failure}>{failure}</li>
          ))}
        </ul>
      )}
      <h3>{t('done')}</h3>
      <Actions actions={report.actions} />
    </Section>
  )
}

function Actions({ actions }: { actions: SystemReport['reconciler']['actions'] }) {
  const t = useTranslations('admin.system')
  const { count } = useQuantities()
  const done = kinds.flatMap((kind) => (actions[kind] ? [{ kind, times: actions[kind] }] : []))
  if (done.length === 0) return <p className="hint">{t('reconciler.nothingDone')}</p>
  return (
    <dl className="counts">
      {done.map(({ kind, times }) => (
        <div key={kind}>
          <dt>{t(`action.${kind}`)}</dt>
          <dd>{count(times)}</dd>
        </div>
      ))}
    </dl>
  )
}
