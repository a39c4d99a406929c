import { domainToASCII } from 'node:url'
import { refusals } from '#/refusals/errors.ts'

/** Max length of an address in SMTP. Source: RFC 5321, 4.5.3.1.3 (256 with the angle brackets). */
const maxLength = 254

/**
 * One mailbox: dot-separated atoms (RFC 5321), `@`, a host name with at least one dot. Deliberately narrower than the
 * standards: commas, quotes and line breaks turn one recipient into two in a mail library's address parser, and letters
 * beyond ASCII can lower-case into another user's address (the Kelvin sign becomes `k`).
 */
const mailbox =
  /^[a-z0-9!#$%&'*+/=?^_`{|}~-]{1,64}(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]{1,64})*@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/** Whether mail can be sent to it. @param email lower-cased */
export function isAddress(email: string): boolean {
  const local = email.slice(0, email.lastIndexOf('@'))
  return email.length <= maxLength && local.length <= 64 && mailbox.test(email)
}

/**
 * Trims and lower-cases the input, and writes an international domain in its ASCII form. Source: specification, login
 * rule 1. @throws {Refusal} 400 when nothing is left
 */
export function normaliseEmail(typed: string): string {
  const email = trimInvisible(typed).toLowerCase()
  if (email === '') throw refusals.missingEmail()
  return withAsciiDomain(email)
}

/**
 * White space, and characters without width or that only set the direction of text: text that is copied from a page, a
 * chat or a table has them around an address, where no reader sees them.
 */
const invisible = /^[\s\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]$/

function trimInvisible(text: string): string {
  let [start, end] = [0, text.length]
  while (start < end && invisible.test(text[start] ?? '')) start += 1
  while (end > start && invisible.test(text[end - 1] ?? '')) end -= 1
  return text.slice(start, end)
}

/** Mail goes to the ASCII form of a domain (RFC 5890, 2.3.2.1). What has none stays, and is refused as no address. */
function withAsciiDomain(email: string): string {
  const at = email.lastIndexOf('@')
  const domain = email.slice(at + 1)
  if (at === -1 || email.length > maxLength || /^[\x20-\x7e]*$/.test(domain)) return email
  return `${email.slice(0, at)}@${domainToASCII(domain) || domain}`
}

/**
 * Does what `normaliseEmail` does for an address that is to be registered. Source: specification, signup rule 1.
 * @throws {Refusal} 400 when it is not an address that mail can be sent to
 */
export function parseNewEmail(typed: string): string {
  const email = normaliseEmail(typed)
  if (!isAddress(email)) throw refusals.badEmail()
  return email
}

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
