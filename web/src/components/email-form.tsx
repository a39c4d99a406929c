import { useEffect, useId, useRef, useState, type FormEvent } from 'react'
import type { Client } from '@berth/api/client.ts'
import { connect } from '#/api.ts'
import { Alert } from '#/components/alert.tsx'
import { useTask } from '#/hooks/use-task.ts'

interface EmailFormProps {
  button: string
  /** Where the form takes the place of a button that was just pressed. */
  takesFocus?: boolean
  /** Asks the server for the mail. What counts as an address is the server's decision, in its own words. */
  send(api: Client, email: string): Promise<unknown>
  onSent(email: string): void
}

const words = {
  label: 'E-mail address',
  sending: 'Sending…',
}

/** One field, one button, and the server's sentence beside the field when it refuses. */
export function EmailForm({ button, takesFocus = false, send, onSent }: EmailFormProps) {
  const id = useId()
  const field = useRef<HTMLInputElement>(null)
  const [email, setEmail] = useState('')
  const { busy, error, run } = useTask()
  const failed = error !== undefined

  // The person is most likely to correct the address, and the field is described by the alert.
  useEffect(() => {
    if (failed) field.current?.focus()
  }, [failed])

  function submit(event: FormEvent) {
    event.preventDefault()
    void run(async (signal) => {
      await send(connect(signal), email)
      onSent(email.trim())
    })
  }

  return (
    <form onSubmit={submit} noValidate>
      <label htmlFor={id}>{words.label}</label>
      <input
        ref={field}
        id={id}
        type="email"
        name="email"
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
      <Alert error={error} id={`${id}-error`} />
      <button className="button primary" disabled={busy}>
        {busy ? words.sending : button}
      </button>
    </form>
  )
}
