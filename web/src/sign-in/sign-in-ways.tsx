import { useEffect, useId, useRef, useState, type FormEvent } from 'react'
import { useTranslations } from 'use-intl/react'
import { ApiError, type OnAnswer } from '@berth/api/client.ts'
import { linksLeftOf, type LinksLeft } from '@berth/api/links-left.ts'
import { boot, createApiClient, createSignInClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { useTask } from '#/components/use-task.ts'
import { pages } from '#/paths.ts'
import { navigate } from '#/router/router.ts'
import { safeNext } from '#/safe-next.ts'
import type { MagicLinkRequest } from './magic-link-request.ts'
import { rememberReturnPath } from './return-path.ts'

interface SignInWaysProps {
  /** Above the e-mail field. */
  lead?: string
  button: string
  email?: string | undefined
  next: string | undefined
}

/** The ways to sign in that this installation offers: providers first, then the e-mail field. */
export function SignInWays({ lead, button, email, next }: SignInWaysProps) {
  const { providers, isByLink } = boot.signIn
  return (
    <>
      <ProviderButtons next={next} />
      {isByLink && (
        <>
          {lead !== undefined && <p>{lead}</p>}
          <EmailForm
            button={button}
            email={email}
            isFirst={providers.length === 0}
            takesFocus={lead !== undefined && providers.length === 0}
            next={next}
          />
        </>
      )}
    </>
  )
}

interface EmailFormProps {
  button: string
  /** The initial value of the field. */
  email?: string | undefined
  /** No provider comes before it. */
  isFirst: boolean
  /** Where the page exists only for this field. */
  takesFocus?: boolean
  /** Where the link leads after signing in. */
  next: string | undefined
}

/** One field, one button, and the server's sentence beside the field when it refuses; leads to "Check your mail". */
function EmailForm({ button, email: known = '', isFirst, takesFocus = false, next }: EmailFormProps) {
  const t = useTranslations('signIn.email')
  const id = useId()
  const field = useRef<HTMLInputElement>(null)
  const [email, setEmail] = useState(known)
  const [isMissing, setMissing] = useState(false)
  const { busy, error, run, reset } = useTask()
  const failed = isMissing || error !== undefined

  // The user most likely corrects the address, and the field is described by the alert.
  useEffect(() => {
    if (failed) field.current?.focus()
  }, [failed, error])

  function submit(event: FormEvent) {
    event.preventDefault()
    setMissing(email.trim() === '')
    if (email.trim() === '') return reset()
    void run(async (signal) => {
      const request = await requestMagicLink(email, signal, { isTypedHere: email !== known })
      rememberReturnPath(next)
      navigate(pages.checkMail, request)
    })
  }

  return (
    <form onSubmit={submit} noValidate>
      <label htmlFor={id}>{t('label')}</label>
      <input
        ref={field}
        id={id}
        type="email"
        name="email"
        inputMode="email"
        autoComplete="email"
        autoCapitalize="none"
        autoFocus={takesFocus}
        spellCheck={false}
        maxLength={254}
        value={email}
        onChange={(event) => setEmail(event.target.value)}
        aria-required
        aria-invalid={failed}
        aria-describedby={`${id}-error`}
      />
      <Alert error={error} sentence={isMissing ? t('missing') : undefined} id={`${id}-error`} />
      {/* Not disabled while busy: that would lose the focus. `run` ignores further presses. */}
      <button className={isFirst ? 'button primary' : 'button'} aria-disabled={busy}>
        {busy ? t('sending') : button}
      </button>
    </form>
  )
}

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

/**
 * Requests the mail that signs the owner of an address in, in the one way that is right for every address: `signUp`
 * would do for new and existing users, but sends a login link to a user who lost their first mail, and that is refused
 * until they are verified (specification, signup rule 2); `logIn` mails new users nothing; two calls would cost two of
 * the three links of an hour. The answer is the same for every address, so this page need not know the account.
 * @param isTypedHere whether the user typed the address into this page: only then may this browser use the link without
 * another press. The state of a history entry may come from a container's page, which shares our origin: it could hold
 * its author's address, and a press on "Send it again" would sign in to its author's account.
 * @param onLimit is called when the address has no link left, before the error is thrown
 * @throws {ApiError} 400 not an address · 403 blocked · 429 limit · 500 mail not accepted
 */
export async function requestMagicLink(
  email: string,
  signal: AbortSignal,
  { isTypedHere, onLimit }: { isTypedHere: boolean; onLimit?: (request: MagicLinkRequest) => void },
): Promise<MagicLinkRequest> {
  let links: LinksLeft | undefined
  const onAnswer: OnAnswer = (_, { headers }) => (links = linksLeftOf(headers))
  const api = isTypedHere ? createSignInClient(signal, onAnswer) : createApiClient(signal, undefined, onAnswer)
  const requested = () => ({ email: email.trim(), at: Date.now(), links })
  await api.askForLink({ body: { email } }).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 429 && links !== undefined) onLimit?.(requested())
    throw error
  })
  return requested()
}
