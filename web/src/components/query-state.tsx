import { useTranslations } from 'use-intl/react'
import { Alert } from './alert.tsx'

interface QueryStateProps {
  query: { readonly error: unknown; readonly isPending: boolean }
  /** Why something else failed on this page, which counts more. */
  failure?: unknown
}

/** Why what a page shows is not there: it is still being read, or cannot be. */
export function QueryState({ query, failure }: QueryStateProps) {
  const t = useTranslations('frame')
  return (
    <>
      <Alert error={failure ?? query.error ?? undefined} />
      {query.isPending && <p role="status">{t('loading')}</p>}
    </>
  )
}
