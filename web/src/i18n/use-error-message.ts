import { useTranslations } from 'use-intl/react'
import { problemIn } from '#/api/errors.ts'

/** Says anything that a request can throw in one sentence for a person; in the server's own words where it gave some. */
export function useErrorMessage(): (error: unknown) => string {
  const t = useTranslations('frame.problem')
  return (error) => {
    const problem = problemIn(error)
    return 'sentence' in problem ? problem.sentence : t(problem.key)
  }
}
