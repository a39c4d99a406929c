import { useTranslations } from 'use-intl/react'
import { problemIn } from '#/api/errors.ts'

/** Turns anything that a request can throw into one sentence; the server's own where it sent one. */
export function useErrorMessage(): (error: unknown) => string {
  const t = useTranslations('frame.problem')
  return (error) => {
    const problem = problemIn(error)
    return 'sentence' in problem ? problem.sentence : t(problem.key)
  }
}
