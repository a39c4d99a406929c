/** Domains whose addresses may sign up, as configured: `example.org`, or `*.example.org` for all below it. */
export type EmailDomains = readonly string[]

export interface SignUpPolicy {
  /** `invited`: only by an invitation. */
  readonly signUp: 'open' | 'invited'
  /** Null allows every domain. */
  readonly allowedEmailDomains: EmailDomains | null
  /** May always sign up: otherwise no administrator could. */
  readonly adminEmails: ReadonlySet<string>
}

/** A host name with at least one dot, as in an address that mail can be sent to. */
const domainPattern = /^(?:\*\.)?(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/** Whether a text is one of `EmailDomains`. */
export const isEmailDomain = (text: string): boolean => domainPattern.test(text)

/** Whether an unknown address may sign up. @param email lower-cased and valid */
export function maySignUp(email: string, { signUp, allowedEmailDomains, adminEmails }: SignUpPolicy): boolean {
  if (adminEmails.has(email)) return true
  if (signUp === 'invited') return false
  return allowedEmailDomains === null || allowedEmailDomains.some((allowed) => isWithin(email, allowed))
}

/** Whether the settings name the address or its domain. @param email lower-cased and valid */
export function isAllowlisted(email: string, { allowedEmailDomains, adminEmails }: SignUpPolicy): boolean {
  return adminEmails.has(email) || (allowedEmailDomains?.some((allowed) => isWithin(email, allowed)) ?? false)
}

/** `*.example.org` does not include `example.org` itself. */
function isWithin(email: string, allowed: string): boolean {
  const domain = email.slice(email.lastIndexOf('@') + 1)
  return allowed.startsWith('*.') ? domain.endsWith(allowed.slice(1)) : domain === allowed
}
