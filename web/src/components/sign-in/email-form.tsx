import { useEffect, useId, useRef, useState, type FormEvent } from 'react'
import { useTranslations } from 'use-intl/react'
import { requestMagicLink } from '#/session/request-magic-link.ts'
import { Alert } from '#/components/alert.tsx'
import { useTask } from '#/components/use-task.ts'
import { rememberReturnPath } from '#/session/return-path.ts'
import { pages } from '#/paths.ts'
import { navigate } from '#/router/router.ts'

interface EmailFormProps {
  button: string
  /** The initial value of the field. */
  email?: string | undefined
  /** Where the page exists only for this field. */
  takesFocus?: boolean
  /** Where the link leads after signing in. */
  next: string | undefined
}

/** One field, one button, and the server's sentence beside the field when it refuses; leads to "Check your mail". */
export function EmailForm({ button, email: known = '', takesFocus = false, next }: EmailFormProps) {
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
      <button className="button primary" aria-disabled={busy}>
        {busy ? t('sending') : button}
      </button>
    </form>
  )
}
