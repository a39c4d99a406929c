import { hashToken, newToken } from '#/accounts/sign-up/magic-link-token.ts'
import { crashPoint } from '#/machine/crash-points.ts'
import { archiveEmail } from '#/accounts/mail/archive-email.ts'
import type { MailLook } from '#/accounts/mail/magic-link-email.ts'
import type { Mailer } from '#/accounts/mail/mailer.ts'
import type { Db } from '#/store/database.ts'
import { hasAcceptedLink, insertArchiveLink, listArchivesOf, noteLinkAccepted } from '#/store/home-archives.ts'
import type { TermEndMember } from '#/store/term-end-members.ts'
import { isUnderWay, type TermEnd } from '#/store/term-ends.ts'

export interface MailArchivesParts {
  readonly db: Db
  readonly mailer: Mailer
  /** Address of a page of the front end. */
  readonly pageUrl: (path: string) => string
  readonly look: () => MailLook | undefined
}

/**
 * Mails a member the link to their archives; nothing to a member without any, or who has a mail already. Its hash is stored
 * before it is mailed, so that no accepted mail has a link that leads nowhere: after a crash there may be two mails.
 * @returns false, and nothing is sent, when it was cancelled or its date has passed @throws when the mail is not accepted
 */
export async function mailArchives(
  { db, mailer, pageUrl, look }: MailArchivesParts,
  termEnd: TermEnd,
  member: TermEndMember,
): Promise<boolean> {
  if (!(await isUnderWay(db, termEnd.id, termEnd.phase, new Date()))) return false
  const archives = await listArchivesOf(db, member.id)
  if (archives.length === 0 || (await hasAcceptedLink(db, member.id))) return true
  const token = newToken()
  await insertArchiveLink(db, member.id, hashToken(token), new Date())
  await mailer.send(
    archiveEmail({
      to: member.email,
      group: termEnd.groupName,
      // In the query, from which the server takes it. Behind the #, pages of containers would see it.
      url: `${pageUrl('/archive')}?token=${token}`,
      keepUntil: termEnd.keepUntil,
      removesAccountAt: member.stays === null ? termEnd.removeAt : null,
      language: termEnd.language,
      look: look(),
    }),
  )
  crashPoint('term-end.after-mail')
  await noteLinkAccepted(db, hashToken(token), new Date())
  return true
}
