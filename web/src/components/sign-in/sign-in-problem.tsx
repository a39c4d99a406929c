import { signInProblems } from '@berth/api/sign-in-problems.ts'
import { useTranslations } from 'use-intl/react'
import { boot } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { rich } from '#/components/rich.tsx'
import { ContactLink } from '#/support-contact/ask-for-help.tsx'

/** Why a sign-in by a provider failed. @param code from the URL; an unknown one shows nothing */
export function SignInProblem({ code }: { code: string | null }) {
  const t = useTranslations('signIn.problem')
  const problem = signInProblems.find((each) => each === code)
  return (
    <>
      <Alert error={undefined} sentence={problem && t(problem)} />
      {problem && boot.contact !== null && <p>{t.rich('contact', { contact: rich.inPlace(<ContactLink />) })}</p>}
    </>
  )
}
