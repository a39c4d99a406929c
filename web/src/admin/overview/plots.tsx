import { useMemo, useState } from 'react'
import type { HistorySample, SystemReport } from '@berth/api/schemas/administration/admin.ts'
import { useTranslations } from 'use-intl/react'
import { Plot } from '#/admin/plots/plot.tsx'
import { useInstants } from '#/admin/use-instants.ts'
import { useDrawings } from './drawings.ts'
import { momentsOf, ranges, type Range } from './history.ts'
import { RangeSwitch } from './range-switch.tsx'

/** The history of the last hours. */
export function OverviewPlots({ samples, host }: { samples: readonly HistorySample[]; host: SystemReport['host'] }) {
  const t = useTranslations('admin.overview')
  const instants = useInstants()
  const [range, setRange] = useState<Range>('hours')
  const moments = useMemo(() => momentsOf(samples, range), [samples, range])
  const drawings = useDrawings(moments, range, host)
  const [oldest, newest] = [samples[0], samples.at(-1)]
  const known = oldest && newest ? (Date.parse(newest.at) - Date.parse(oldest.at)) / 1_000 : 0

  return (
    <section className="plots" aria-labelledby="over-time">
      <div className="section-head">
        <h2 id="over-time">{t('over')}</h2>
        {samples.length > 1 && <RangeSwitch range={range} onChange={setRange} />}
      </div>
      {samples.length < 2 ? (
        <p className="hint">{t('empty')}</p>
      ) : (
        <>
          {oldest && known < ranges[range].span * 0.95 && (
            <p className="hint">{t('since', { time: instants.full(oldest.at) })}</p>
          )}
          <div className="plot-grid">
            <Plot title={t('plots.running')} drawing={drawings.running} />
            <Plot title={t('plots.launches', { minutes: ranges[range].step / 60 })} drawing={drawings.launches} />
            <Plot title={t('plots.ready')} drawing={drawings.ready} />
            <Plot title={t('plots.left')} drawing={drawings.left} />
          </div>
        </>
      )}
    </section>
  )
}
