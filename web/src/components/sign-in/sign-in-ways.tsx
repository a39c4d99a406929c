import { boot } from '#/api/api-client.ts'
import { EmailForm } from '#/components/sign-in/email-form.tsx'
import { ProviderButtons } from '#/components/sign-in/provider-buttons.tsx'

interface SignInWaysProps {
  /** Above the e-mail field. */
  lead?: string
  button: string
  email?: string | undefined
  next: string | undefined
}

/** The ways to sign in that this installation offers: providers first, then the e-mail field. */
export function SignInWays({ lead, button, email, next }: SignInWaysProps) {
  const { providers, isByLink } = boot.signIn
  return (
    <>
      <ProviderButtons next={next} />
      {isByLink && (
        <>
          {lead !== undefined && <p>{lead}</p>}
          <EmailForm
            button={button}
            email={email}
            takesFocus={lead !== undefined && providers.length === 0}
            next={next}
          />
        </>
      )}
    </>
  )
}
