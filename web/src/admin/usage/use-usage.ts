import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useFormatter } from 'use-intl/react'
import { createApiClient } from '#/api/api-client.ts'
import { pagedQuery } from '#/components/paged-list.tsx'
import type { UsageBy, UsageUnit, UsageView } from './usage-view.ts'

/** Rows of a page of the table. */
const pageSize = '50'
/** Rows of one answer at most: more periods than are kept by default. */
const allRows = '1000'

/** The conditions that all questions of the page share. */
export const conditionsOf = ({ unit, type, group, user }: UsageView) => ({
  unit,
  ...(type !== undefined && { type }),
  ...(group !== undefined && { group }),
  ...(user !== undefined && { user }),
})

/** The conditions of the rows of the table: users are of one period. */
export const rowConditionsOf = (view: UsageView) => ({
  ...conditionsOf(view),
  by: view.by,
  ...(view.by === 'user' && view.period !== undefined && { from: view.period, until: view.period }),
})

/** Sums of each day or month. */
export const useUsagePeriods = (view: UsageView) =>
  useQuery({
    queryKey: ['admin', 'usage', 'periods', conditionsOf(view)],
    queryFn: ({ signal }) => createApiClient(signal).usage({ query: { ...conditionsOf(view), limit: allRows } }),
    placeholderData: keepPreviousData,
  })

/** Container types that were used in the time shown, for the filter. */
export const useUsedTypes = ({ unit }: Pick<UsageView, 'unit'>) =>
  useQuery({
    queryKey: ['admin', 'usage', 'types', unit],
    queryFn: async ({ signal }) => {
      const { rows } = await createApiClient(signal).usage({ query: { unit, by: 'type', limit: allRows } })
      return rows.map(({ key }) => key)
    },
  })

/** Types, groups or users by hours running, page by page. */
export const useUsageRows = (view: UsageView) =>
  useInfiniteQuery(
    pagedQuery(['admin', 'usage', 'rows', rowConditionsOf(view)], (after, signal) =>
      createApiClient(signal).usage({ query: { ...rowConditionsOf(view), limit: pageSize, ...after } }),
    ),
  )

/** The address that shows one row of the table alone. */
export function viewOfRow(view: UsageView, by: UsageBy, key: string): UsageView {
  if (by === 'type') return { ...view, type: key }
  if (by === 'user') return { ...view, user: key, group: undefined, period: undefined, by: 'type' }
  return { ...view, group: key, by: 'user', period: undefined }
}

/** Between a number and its unit, to prevent a line break. */
const noBreak = '\u00A0'

/** Formats numbers of use in the reader's language. */
export interface UsageNumbers {
  /** Such as `1,234 h`. */
  hours(value: number): string
  /** Such as `1,234 GiB h`. */
  gibHours(value: number): string
  /** Such as `12.5 GiB`. */
  gib(value: number): string
  /** Such as `23 Nov` or `Nov 2026`. */
  period(period: string): string
}

export function useUsageNumbers(unit: UsageUnit): UsageNumbers {
  const format = useFormatter()
  return useMemo(() => {
    const write = (value: number, symbol: string) =>
      `${format.number(value, { maximumFractionDigits: value < 10 ? 1 : 0 })}${noBreak}${symbol}`
    // Dates of the installation's time zone, which the reader's must not move.
    const day = { day: 'numeric', month: 'short', timeZone: 'UTC' } as const
    const month = { month: 'short', year: 'numeric', timeZone: 'UTC' } as const
    return {
      hours: (value) => write(value, 'h'),
      gibHours: (value) => write(value, `GiB${noBreak}h`),
      gib: (value) => write(value, 'GiB'),
      period: (period) =>
        format.dateTime(new Date(`${unit === 'day' ? period : `${period}-01`}T00:00Z`), unit === 'day' ? day : month),
    }
  }, [format, unit])
}
