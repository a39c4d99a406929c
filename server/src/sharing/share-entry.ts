import type { AuditEntry } from '#/store/audit-log.ts'
import type { ContainerShare, ShareRight } from '#/store/container-shares.ts'

/** What a share says, for the audit log. */
export interface ShareTerms {
  /** Of the container. */
  readonly recordId: number
  readonly type: string
  /** `askedInId`: the group whose manager, with this address, asked for it. */
  readonly to: { readonly email: string; readonly askedInId?: number } | { readonly groupId: number }
  readonly may: ShareRight
  readonly until: Date
}

/** The audit entry of a share that was made or ended; the visitor's address is a personal fact, which goes after a while. */
export function shareEntry(
  action: 'container.share' | 'container.unshare',
  actor: AuditEntry['actor'],
  { recordId, type, to, may, until }: ShareTerms,
  at: Date,
): AuditEntry {
  const whom = 'email' in to ? { personal: { with: to.email } } : undefined
  const askedIn = 'email' in to && to.askedInId !== undefined ? { asked_in: `group:${to.askedInId}` } : {}
  const detail = { type, may, until, ...askedIn, ...('groupId' in to && { with: `group:${to.groupId}` }) }
  return { at, actor, action, target: `container:${recordId}`, detail, ...whom }
}

export const termsOf = ({ recordId, type, email, group, askedIn, may, expiresAt }: ContainerShare): ShareTerms => ({
  recordId,
  type,
  to: email === null ? { groupId: group?.id ?? 0 } : { email, ...(askedIn && { askedInId: askedIn.id }) },
  may,
  until: expiresAt,
})
