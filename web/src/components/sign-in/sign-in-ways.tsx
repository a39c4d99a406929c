import { useTranslations } from 'use-intl/react'
import { boot } from '#/api/api-client.ts'
import { EmailForm } from '#/components/sign-in/email-form.tsx'
import { safeNext } from '#/paths.ts'

interface SignInWaysProps {
  /** Above the e-mail field. */
  lead?: string
  button: string
  email?: string | undefined
  next: string | undefined
}

/** The ways to sign in that this installation offers: providers first, then the e-mail field. */
export function SignInWays({ lead, button, email, next }: SignInWaysProps) {
  const t = useTranslations('signIn.ask')
  const { providers, isByLink } = boot.signIn
  return (
    <>
      {providers.length > 0 && (
        <ul className="providers">
          {providers.map(({ displayName, start }) => (
            <li key={start}>
              <a className="button primary" href={withReturnPath(start, next)}>
                {t('provider', { name: displayName })}
              </a>
            </li>
          ))}
        </ul>
      )}
      {isByLink && (
        <>
          {lead !== undefined && <p>{lead}</p>}
          <EmailForm
            button={button}
            email={email}
            takesFocus={lead !== undefined && providers.length === 0}
            next={next}
          />
        </>
      )}
    </>
  )
}

function withReturnPath(start: string, next: string | undefined): string {
  const safe = safeNext(next)
  return safe === undefined ? start : `${start}?${new URLSearchParams({ next: safe })}`
}
