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
  /** What stands in the field at first. */
  email?: string | undefined
  /** Where the field is all that the page is for. */
  takesFocus?: boolean
  /** Where to go on to, once the link has let them in. */
  next: string | undefined
}

/** One field, one button, and the server's sentence beside the field when it refuses; leads to "check your mail". */
export function EmailForm({ button, email: known = '', takesFocus = false, next }: EmailFormProps) {
  const t = useTranslations('signIn.email')
  const id = useId()
  const field = useRef<HTMLInputElement>(null)
  const [email, setEmail] = useState(known)
  const [isMissing, setMissing] = useState(false)
  const { busy, error, run, reset } = useTask()
  const failed = isMissing || error !== undefined

  // The person is most likely to correct the address, and the field is described by the alert.
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
      {/* Not disabled while it works: that would throw the focus away. `run` takes one press. */}
      <button className="button primary" aria-disabled={busy}>
        {busy ? t('sending') : button}
      </button>
    </form>
  )
}
