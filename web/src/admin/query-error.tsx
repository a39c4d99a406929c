import type { UseQueryResult } from '@tanstack/react-query'
import { useTranslations } from 'use-intl/react'
import { Alert } from '#/components/alert.tsx'
import { problemIn } from '#/api/errors.ts'
import { useInstants } from './use-instants.ts'

interface QueryErrorProps {
  query: Pick<UseQueryResult, 'error' | 'data' | 'dataUpdatedAt' | 'isPending'>
}

/**
 * Why content is missing or out of date; the query is retried automatically. The frame of every page says that Berth
 * cannot be reached, so this does not.
 */
export function QueryError({ query }: QueryErrorProps) {
  const t = useTranslations('admin.overview')
  const instants = useInstants()
  const { error, data, dataUpdatedAt, isPending } = query
  const isOffline = error !== null && isUnreachable(error)
  return (
    <>
      <Alert error={isOffline ? undefined : (error ?? undefined)} />
      {error !== null && data !== undefined && (
        <p className="hint">{t('stale', { time: instants.time(new Date(dataUpdatedAt)) })}</p>
      )}
      {data === undefined && (isPending || isOffline) && <p className="hint pending">{t('loading')}</p>}
    </>
  )
}

const isUnreachable = (error: unknown) => {
  const problem = problemIn(error)
  return 'key' in problem && problem.key === 'unreachable'
}
