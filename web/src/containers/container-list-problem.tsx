import { useFormatter, useTranslations } from 'use-intl/react'
import { problemIn } from '#/api/errors.ts'
import { Button } from '#/components/button.tsx'
import { focusHeading } from '#/components/page/page.tsx'
import { useErrorMessage } from '#/i18n/use-error-message.ts'
import type { ContainerListState } from './use-containers.ts'

/**
 * Why the list may be out of date, and since when. The element is always rendered, so that a later problem is
 * announced. Every page itself says that Berth cannot be reached (`ConnectivityNote`).
 */
export function ContainerListProblem({
  containerList: { containers, asOf, problem, refresh },
}: {
  containerList: ContainerListState
}) {
  const t = useTranslations('dashboard')
  const format = useFormatter()
  const sentenceOf = useErrorMessage()
  const sentences = [
    !containers && t('failed'),
    !isUnreachable(problem) && sentenceOf(problem),
    containers && t('asOf', { time: format.dateTime(asOf, { timeStyle: 'short' }) }),
  ]
  // The button goes away with the problem, so the focus moves first.
  function retry() {
    focusHeading()
    refresh()
  }

  return (
    <div role="alert" className="live">
      {problem !== undefined && (
        <div className="alert with-action">
          <p>{sentences.filter(Boolean).join(' ')}</p>
          <Button onPress={retry}>{t('action.retry')}</Button>
        </div>
      )}
    </div>
  )
}

function isUnreachable(error: unknown): boolean {
  const problem = problemIn(error)
  return 'key' in problem && problem.key === 'unreachable'
}
