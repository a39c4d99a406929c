import { useFormatter } from 'use-intl/react'
import { createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { useTask } from '#/components/use-task.ts'
import { useAnnounce } from './announcements.tsx'
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

/** Asks a member for a look at a container that runs, and leads to what the member has opened. */
export function LookLine(props: LookLineProps) {
  const { t, user, container } = props
  const { name, word, look } = container
  if (look?.state === 'open')
    return (
      <a className="button small" href={look.url ?? undefined} target="_blank" rel="noreferrer">
        <span aria-hidden>{t('live.lookOpen')}</span>
        <span className="visually-hidden">{t('live.lookOpenAt', { email: user.email, type: name })}</span>
      </a>
    )
  // A look starts nothing, so there is something to see only where it runs. What was asked stays where the focus may be.
  return look || word === 'running' || word === 'paused' ? <Ask {...props} /> : null
}

function Ask({ t, params, user: { email }, container: { name, look }, isOff }: LookLineProps) {
  const { busy, error, run } = useTask()
  const announce = useAnnounce()

  function ask() {
    void run(async (signal) => {
      await createApiClient(signal).askToLook({ params })
      announce(t('live.lookAsked'))
    })
  }
  return (
    <>
      <Button variant="small" isOff={isOff || busy || look !== null} onPress={ask}>
        <span aria-hidden>{t('live.look')}</span>
        <span className="visually-hidden">{t('live.lookAt', { email, type: name })}</span>
      </Button>
      <Alert error={error} />
    </>
  )
}

/** What became of a question for a look. */
export function LookHint({ t, container: { look } }: Pick<LookLineProps, 't' | 'container'>) {
  const format = useFormatter()
  if (!look) return null
  const at = format.dateTime(new Date(look.until), { timeStyle: 'short' })
  const words = {
    asked: t('live.lookAsked'),
    declined: t('live.lookDeclined', { at }),
    open: t('live.lookUntil', { at }),
  }
  return <p className="hint">{words[look.state]}</p>
}
