import type { LooksEvent } from '@berth/api/schemas/container.ts'
import type { ContainerEntry } from '@berth/api/schemas/user.ts'
import { useState } from 'react'
import { useFormatter, useTranslations } from 'use-intl/react'
import { canAct, createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { withTexts } from '#/i18n/i18n-provider.tsx'
import { sharing } from '#/messages/sharing.ts'
import { focusHeading } from '#/router/router.ts'
import { rich } from '#/components/rich.tsx'
import { useTask } from '#/components/use-task.ts'
import { useEvents } from '#/events/use-events.ts'

/** A press within this time after a request came, in ms, was meant for what it covers. */
const unseen = 500

/** Managers of groups who ask to look at a container of the user, and those who may look now. */
export const LookNotes = withTexts(
  { sharing },
  function Notes({ containers }: { containers: readonly ContainerEntry[] }) {
    const { events } = useEvents()
    const { requests, looks } = events.looks
    const nameOf = (type: string) => containers.find((each) => each.type === type)?.display_name ?? type
    return (
      <>
        {requests.length > 0 && (
          <div className="look-requests">
            {requests.map((request) => (
              <Request key={request.id} request={request} name={nameOf(request.type)} />
            ))}
          </div>
        )}
        {looks.map((look) => (
          <OpenLook
            key={look.share_id}
            look={look}
            name={nameOf(look.type)}
            isHere={events.visitors.get(look.type)?.some(({ email }) => email === look.by) === true}
          />
        ))}
      </>
    )
  },
)

/** An answer takes the pressed button away, often before its response comes, so the focus moves first. */
function Request({ request, name }: { request: LooksEvent['requests'][number]; name: string }) {
  const t = useTranslations('sharing.looks')
  const { busy, error, run } = useTask()
  const { id, by, group } = request
  const params = { id: String(id) }
  const [since] = useState(() => performance.now())
  const isUnseen = () => performance.now() - since < unseen

  function agree() {
    if (isUnseen()) return
    focusHeading()
    void run(async (signal) => {
      await createApiClient(signal).agreeToLook({ params })
    })
  }
  function decline() {
    if (isUnseen()) return
    focusHeading()
    void run(async (signal) => {
      await createApiClient(signal).declineLook({ params })
    })
  }
  const isOff = !canAct() || busy
  return (
    <div className="note with-action">
      <div>
        <p>{t.rich('ask', { by, group, name, b: rich.address })}</p>
        <p className="hint">{t('effect')}</p>
        <Alert error={error} />
      </div>
      <div className="actions">
        <Button variant="small" isOff={isOff} onPress={agree}>
          {t('agree')}
        </Button>
        <Button variant="small" isOff={isOff} onPress={decline}>
          {t('decline')}
        </Button>
      </div>
    </div>
  )
}

function OpenLook({ look, name, isHere }: { look: LooksEvent['looks'][number]; name: string; isHere: boolean }) {
  const t = useTranslations('sharing.looks')
  const format = useFormatter()
  const { busy, error, run } = useTask()
  const { by, group } = look
  const at = format.dateTime(new Date(look.expires_at), { timeStyle: 'short' })

  function end() {
    focusHeading()
    void run(async (signal) => {
      const params = { container_type: look.type, id: String(look.share_id) }
      await createApiClient(signal).endShare({ params })
    })
  }
  return (
    <div className="note with-action">
      <div>
        <p>
          {t.rich('open', { by, group, name, at, b: rich.address })}{' '}
          {isHere && <span className="badge">{t('here')}</span>}
        </p>
        <Alert error={error} />
      </div>
      <Button variant="small" isOff={!canAct() || busy} onPress={end}>
        {t('end')}
      </Button>
    </div>
  )
}
