import { useTranslations } from 'use-intl/react'
import { Plot } from '#/admin/plots/plot.tsx'
import type { useUsageDrawings } from './use-usage-drawings.ts'

/** Use over time. */
export function UsagePlots({ drawings }: { drawings: ReturnType<typeof useUsageDrawings> }) {
  const t = useTranslations('admin.usage')
  return (
    <section className="plots" aria-labelledby="usage-over-time">
      <h2 id="usage-over-time">{t('over')}</h2>
      <div className="plot-grid">
        <Plot title={t('plots.hours')} drawing={drawings.hours} />
        <Plot title={t('plots.cpu')} drawing={drawings.cpu} />
        <Plot title={t('plots.memory')} drawing={drawings.memory} />
        {drawings.homes && <Plot title={t('plots.homes')} drawing={drawings.homes} />}
      </div>
    </section>
  )
}
