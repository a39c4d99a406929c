import { useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { downloadFile } from '#/components/download-file.ts'
import { useTask } from '#/components/use-task.ts'
import { exportUsage, usageFileName, type UsagePageQuery } from './export-usage.ts'
import type { UsageView } from './usage-view.ts'
import { conditionsOf, rowConditionsOf } from './use-usage.ts'

/** Saves what the table lists, or each day or month, as CSV. Leaving the page cancels it. */
export function UsageExport({ view }: { view: UsageView }) {
  const t = useTranslations('admin.usage.export')
  const { busy, error, run } = useTask()
  const [state, setState] = useState<{ count: number; file?: string }>({ count: 0 })

  const save = (query: ReturnType<typeof rowConditionsOf> | ReturnType<typeof conditionsOf>, name: string) =>
    run(async (signal) => {
      setState({ count: 0 })
      const api = createApiClient(signal)
      let [file, count] = ['', 0]
      const listPage = async (page: UsagePageQuery) => {
        const answer = await api.usage({ query: { ...query, ...page } })
        file = usageFileName(name, answer.from, answer.until)
        return answer
      }
      const blob = await exportUsage(listPage, (rows) => setState({ count: (count = rows) }))
      downloadFile(blob, file)
      setState({ count, file })
    })

  return (
    <>
      <Button variant="small" isOff={busy} onPress={() => void save(rowConditionsOf(view), view.by)}>
        {t('rows')}
      </Button>
      <Button variant="small" isOff={busy} onPress={() => void save(conditionsOf(view), view.unit)}>
        {t(view.unit)}
      </Button>
      <p role="status" className="hint live">
        {busy && t('progress', { count: state.count })}
        {!busy && state.file !== undefined && t('done', { count: state.count, file: state.file })}
      </p>
      <Alert error={error} />
    </>
  )
}
