import { useId, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import type { ListedContainer } from '@berth/api/schemas/administration/admin.ts'
import { createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { Dialog, EndButton } from '#/components/dialog.tsx'
import { useTypeName } from '#/components/type-name.tsx'
import { useTask } from '#/components/use-task.ts'
import { blocksOf } from '#/containers/log-lines.ts'
import { LogRegion } from '#/containers/log-region.tsx'

interface LastLinesDialogProps {
  container: ListedContainer
  onClose(): void
}

/** The last lines of a user's container: they are read when the administrator says so, as reading them is audited. */
export function LastLinesDialog({ container, onClose }: LastLinesDialogProps) {
  const t = useTranslations('admin.containers')
  const label = useId()
  const task = useTask()
  const [lines, setLines] = useState<readonly string[]>()
  const title = t('logs.title', {
    name: t('name', { type: useTypeName()(container.container_type), email: container.email }),
  })

  const read = () =>
    task.run(async (signal) => {
      const request = { params: { id: String(container.id) }, query: { lines: '200' } }
      setLines((await createApiClient(signal).readContainerLogs(request)).lines)
    })

  return (
    <Dialog title={title} variant="wide" onClose={onClose}>
      {(close) => (
        <>
          <p>{t('logs.ask')}</p>
          <Alert error={task.error} />
          <span id={label} hidden>
            {title}
          </span>
          <div aria-live="polite">
            {lines && <LogRegion labelledBy={label} blocks={blocksOf(lines.length > 0 ? lines : [t('logs.none')])} />}
          </div>
          <div className="actions end">
            <Button isOff={task.busy} onPress={read}>
              {task.busy ? t('logs.busy') : lines ? t('logs.again') : t('logs.show')}
            </Button>
            <EndButton word="close" variant="primary" onPress={close} />
          </div>
        </>
      )}
    </Dialog>
  )
}
