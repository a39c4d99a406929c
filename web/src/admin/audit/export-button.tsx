import { useEffect, useRef, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { createApiClient } from '#/api/api-client.ts'
import { isAborted } from '#/api/errors.ts'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { downloadFile } from '#/components/download-file.ts'
import { conditionsOf, type AuditFilter } from './audit-filter.ts'
import { exportCsv, fileName, type ExportProgress } from './export-csv.ts'

type State =
  | { is: 'idle' }
  | { is: 'busy'; progress: ExportProgress; controller: AbortController }
  | { is: 'done'; entries: number; file: string }
  | { is: 'cancelled' }
  | { is: 'failed'; error: unknown }

const nothingYet: ExportProgress = { entries: 0, share: 0 }

/** Saves all entries that match the filters as CSV. A cancelled export saves nothing. */
export function ExportButton({ filter }: { filter: AuditFilter }) {
  const t = useTranslations('admin.audit.export')
  const [state, setState] = useState<State>({ is: 'idle' })
  const current = useRef<AbortController>(undefined)
  const status = useRef<HTMLParagraphElement>(null)
  // Each button takes the place of the other, so the focus moves first.
  const leaveButton = () => status.current?.focus({ preventScroll: true })
  useEffect(() => () => current.current?.abort(), [])

  async function start() {
    const controller = (current.current = new AbortController())
    const api = createApiClient(controller.signal)
    const showProgress = (progress: ExportProgress) => setState({ is: 'busy', progress, controller })
    showProgress(nothingYet)
    try {
      let entries = 0
      const blob = await exportCsv(
        (page) => {
          controller.signal.throwIfAborted()
          return api.listAudit({ query: { ...conditionsOf(filter), ...page } })
        },
        (progress) => {
          entries = progress.entries
          showProgress(progress)
        },
      )
      const file = fileName(new Date())
      downloadFile(blob, file)
      setState({ is: 'done', entries, file })
    } catch (error) {
      setState(isAborted(error) ? { is: 'cancelled' } : { is: 'failed', error })
    }
  }

  return (
    <div className="export">
      {state.is === 'busy' ? (
        <div className="export-busy">
          <progress aria-label={t('title')} max={1} value={state.progress.share} />
          <span>{t('progress', { count: state.progress.entries })}</span>
          <Button
            variant="small"
            onPress={() => {
              leaveButton()
              state.controller.abort()
            }}
          >
            {t('cancel')}
          </Button>
        </div>
      ) : (
        <Button
          variant="small"
          onPress={() => {
            leaveButton()
            void start()
          }}
        >
          {t('start')}
        </Button>
      )}
      <p role="status" ref={status} tabIndex={-1} className="hint live">
        {state.is === 'done' && t('done', { count: state.entries, file: state.file })}
        {state.is === 'cancelled' && t('cancelled')}
      </p>
      <Alert error={state.is === 'failed' ? state.error : undefined} />
    </div>
  )
}
