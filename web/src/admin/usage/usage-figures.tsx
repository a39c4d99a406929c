import type { UsageResponse } from '@berth/api/schemas/administration/usage.ts'
import { useTranslations } from 'use-intl/react'
import { Figure, Figures } from '#/admin/figure.tsx'
import { useQuantities } from '#/admin/quantities.ts'
import { useUsageNumbers } from './use-usage-numbers.ts'
import type { totalOf, UsageUnit } from './usage-view.ts'

interface UsageFiguresProps {
  total: ReturnType<typeof totalOf>
  unit: UsageUnit
  answer: Pick<UsageResponse, 'from' | 'until'>
}

/** The sums of the time shown. */
export function UsageFigures({ total, unit, answer }: UsageFiguresProps) {
  const t = useTranslations('admin.usage.figure')
  const { percent } = useQuantities()
  const { hours, gibHours, period } = useUsageNumbers(unit)
  const share = (part: number, whole: number) => percent(whole > 0 ? part / whole : 0)
  const isMeasured = total.measured_hours > 0
  return (
    <div className="usage-figures">
      <Figures>
        <Figure
          label={t('running')}
          value={hours(total.running_hours)}
          meaning={t('between', { from: period(answer.from), until: period(answer.until) })}
        />
        <Figure
          label={t('used')}
          value={hours(total.used_hours)}
          meaning={t('usedOf', { share: share(total.used_hours, total.running_hours) })}
        />
        {isMeasured ? (
          <>
            <Figure
              label={t('cpu')}
              value={hours(total.cpu_hours)}
              meaning={t('takenOf', {
                allowed: hours(total.core_hours),
                share: share(total.cpu_hours, total.core_hours),
              })}
            />
            <Figure
              label={t('memory')}
              value={gibHours(total.memory_used_gib_hours)}
              meaning={t('takenOf', {
                allowed: gibHours(total.memory_gib_hours),
                share: share(total.memory_used_gib_hours, total.memory_gib_hours),
              })}
            />
          </>
        ) : (
          <>
            <Figure label={t('cpu')} value={hours(total.core_hours)} meaning={t('allowed')} />
            <Figure label={t('memory')} value={gibHours(total.memory_gib_hours)} meaning={t('allowed')} />
          </>
        )}
      </Figures>
    </div>
  )
}
