import { useTranslations } from 'use-intl/react'
import { boot } from '#/api/api-client.ts'
import { safeNext } from '#/safe-next.ts'

/** A button for each provider of this installation; nothing without one. @param next where it leads after signing in */
export function ProviderButtons({ next }: { next: string | undefined }) {
  const t = useTranslations('signIn.ask')
  const { providers } = boot.signIn
  if (providers.length === 0) return null
  return (
    <ul className="providers">
      {providers.map(({ displayName, start }) => (
        <li key={start}>
          <a className="button primary" href={withReturnPath(start, next)}>
            {t('provider', { name: displayName })}
          </a>
        </li>
      ))}
    </ul>
  )
}

function withReturnPath(start: string, next: string | undefined): string {
  const safe = safeNext(next)
  return safe === undefined ? start : `${start}?${new URLSearchParams({ next: safe })}`
}
