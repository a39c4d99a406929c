import { useFormatter, useTranslations } from 'use-intl/react'
import { createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { useTask } from '#/components/use-task.ts'
import type { ContainerView } from './member-view.ts'

interface LookLineProps {
  params: { id: string; user_id: string; container_type: string }
  /** Of the owner. */
  user: { readonly email: string }
  container: ContainerView
  isOff: boolean
}

/** Asks a member for a look at a container that runs, says what became of it, and leads to what the member has opened. */
export function LookLine({ params, user: { email }, container, isOff }: LookLineProps) {
  const t = useTranslations('groups.live')
  const format = useFormatter()
  const { busy, error, run } = useTask()
  const { type, word, look } = container
  const at = look === null ? '' : format.dateTime(new Date(look.until), { timeStyle: 'short' })

  function ask() {
    void run(async (signal) => {
      await createApiClient(signal).askToLook({ params })
    })
  }
  if (look?.state === 'asked') return <span className="hint">{t('lookAsked')}</span>
  if (look?.state === 'declined') return <span className="hint">{t('lookDeclined', { at })}</span>
  if (look?.state === 'open')
    return (
      <span>
        <a className="button small" href={look.url ?? undefined} target="_blank" rel="noreferrer">
          <span aria-hidden>{t('lookOpen')}</span>
          <span className="visually-hidden">{t('lookOpenAt', { email, type })}</span>
        </a>{' '}
        <span className="hint">{t('lookUntil', { at })}</span>
      </span>
    )
  // A look starts nothing, so there is something to see only where it runs.
  if (word !== 'running' && word !== 'paused') return null
  return (
    <>
      <Button variant="small" isOff={isOff || busy} onPress={ask}>
        <span aria-hidden>{t('look')}</span>
        <span className="visually-hidden">{t('lookAt', { email, type })}</span>
      </Button>
      <Alert error={error} />
    </>
  )
}
