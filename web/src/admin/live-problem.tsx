import type { UseQueryResult } from '@tanstack/react-query'
import { useTranslations } from 'use-intl/react'
import { Alert } from '#/components/alert.tsx'
import { useInstants } from './use-instants.ts'

/** Why something cannot be shown, or why what is shown is old; looking again goes on by itself. */
export function LiveProblem({ query }: { query: Pick<UseQueryResult, 'error' | 'data' | 'dataUpdatedAt'> }) {
  const t = useTranslations('admin.overview')
  const instants = useInstants()
  const { error, data, dataUpdatedAt } = query
  return (
    <>
      <Alert error={error ?? undefined} />
      {error !== null && data !== undefined && (
        <p className="hint">{t('stale', { time: instants.time(new Date(dataUpdatedAt)) })}</p>
      )}
    </>
  )
}
