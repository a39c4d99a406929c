import { useFormatter } from 'use-intl/react'
import { createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { useTask } from '#/components/use-task.ts'
import type { GroupTexts } from './member-container.tsx'
import type { ContainerView } from './member-view.ts'

interface LookLineProps {
  t: GroupTexts
  params: { id: string; user_id: string; container_type: string }
  /** Of the owner. */
  user: { readonly email: string }
  container: ContainerView
  isOff: boolean
}

/** Asks a member for a look at a container that runs, says what became of it, and leads to what the member has opened. */
export function LookLine(props: LookLineProps) {
  const { t, user, container } = props
  const { type, word, look } = container
  if (look?.state === 'asked') return <span className="hint">{t('live.lookAsked')}</span>
  if (look) return <Answer t={t} look={look} email={user.email} type={type} />
  // A look starts nothing, so there is something to see only where it runs.
  return word === 'running' || word === 'paused' ? <Ask {...props} /> : null
}

interface AnswerProps {
  t: GroupTexts
  look: NonNullable<ContainerView['look']>
  /** Of the owner. */
  email: string
  /** Of the container. */
  type: string
}

function Answer({ t, look, email, type }: AnswerProps) {
  const at = useFormatter().dateTime(new Date(look.until), { timeStyle: 'short' })
  if (look.state === 'declined') return <span className="hint">{t('live.lookDeclined', { at })}</span>
  return (
    <span>
      <a className="button small" href={look.url ?? undefined} target="_blank" rel="noreferrer">
        <span aria-hidden>{t('live.lookOpen')}</span>
        <span className="visually-hidden">{t('live.lookOpenAt', { email, type })}</span>
      </a>{' '}
      <span className="hint">{t('live.lookUntil', { at })}</span>
    </span>
  )
}

function Ask({ t, params, user: { email }, container: { type }, isOff }: LookLineProps) {
  const { busy, error, run } = useTask()

  function ask() {
    void run(async (signal) => {
      await createApiClient(signal).askToLook({ params })
    })
  }
  return (
    <>
      <Button variant="small" isOff={isOff || busy} onPress={ask}>
        <span aria-hidden>{t('live.look')}</span>
        <span className="visually-hidden">{t('live.lookAt', { email, type })}</span>
      </Button>
      <Alert error={error} />
    </>
  )
}
